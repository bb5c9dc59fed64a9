import { isSetBack, timeOf } from '../app/state.ts'
import type { EntitlementValue } from '../lease2.ts'
import type { OfflineFacts } from './facts.ts'
import { type Given, readHeld, readWithdrawn } from './read.ts'

type Granted = {
  entitlements: Readonly<Record<string, EntitlementValue>>
  /** When the license itself ends, in Unix seconds; null when it does not. */
  licenseExpiresAt: number | null
}

/** What an app without a network shows and allows. There is exactly one at any time. */
export type OfflineState = (
  | { /** The storage has not been read yet. */ status: 'starting' }
  /** There is no file, or none for this machine: ask for a license key, and make a request. */
  | { status: 'unlicensed' }
  | ({ status: 'licensed' /** The end of the file, in Unix seconds. */; until: number } & Granted)
  /** The license has ended, and its fallback entitlements stay until the file ends. */
  | ({ status: 'fallback'; until: number } & Granted)
  /** The file has ended. What it allowed is named: whether a running app stops is the vendor's to decide. */
  | ({ status: 'expired'; at: number } & Granted)
  /** The license was revoked, or the file was replaced on another machine, as a list says that was carried here. */
  | { status: 'withdrawn' }
  | { status: 'released' }
) & {
  /** The clock of the device is behind a time that was already seen. That later time is then used. */
  clockSetBack: boolean
}

/**
 * The state that stored facts allow on a machine. It depends on nothing else.
 * @param now Unix seconds by the clock of the device
 */
export function offlineStateOf(facts: OfflineFacts, given: Given, now: number): OfflineState {
  return { ...ofFile(facts, given, timeOf(facts, now)), clockSetBack: isSetBack(facts, now) }
}

type Bare<Variant = OfflineState> = Variant extends OfflineState ? Omit<Variant, 'clockSetBack'> : never

function ofFile(facts: OfflineFacts, given: Given, time: number): Bare {
  const held = readHeld(facts, given)
  if (!held) return { status: 'unlicensed' }
  const { lease } = held
  if (lease.serial <= facts.released) return { status: 'released' }
  const list = facts.withdrawn === undefined ? undefined : readWithdrawn(facts.withdrawn, given)
  if (list?.ok && lease.file && list.list.files.includes(lease.file.id)) return { status: 'withdrawn' }
  const { entitlements, licenseExpiresAt, expiresAt } = lease
  const granted = { entitlements, licenseExpiresAt }
  if (time > expiresAt) return { status: 'expired', at: expiresAt, ...granted }
  return { status: lease.status === 'active' ? 'licensed' : 'fallback', until: expiresAt, ...granted }
}
