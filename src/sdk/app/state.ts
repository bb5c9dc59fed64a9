import { ownIn } from '../keyset.ts'
import type { EntitlementValue } from '../lease2.ts'
import type { Facts } from './facts.ts'
import type { Storage } from './ports.ts'

/** Why the server has withdrawn a license from this device. */
export type WithdrawnReason = 'revoked' | 'suspended' | 'reminted' | 'inactive'

type Granted = {
  /** Until when the app may go on without reaching the server, in Unix seconds. */
  until: number
  entitlements: readonly string[]
  /** Of the entitlements that are more than flags: a number or text. {@link value} reads them. */
  values: Readonly<Record<string, EntitlementValue>>
  /** When the license ends, for display; null when it does not end. Only `until` is signed. */
  licenseExpiresAt: number | null
}

/** What an app shows and allows. There is exactly one at any time. */
export type State = (
  | { /** The storage has not been read yet. */ status: 'starting' }
  | {
      /** No license, no trial under way, no free tier: ask for a license key, or offer the trial. */
      status: 'unlicensed'
      /** The days of the trial that can be started, if there is one. */
      trialDays?: number
    }
  | ({ status: 'licensed' } & Granted)
  /** The license has ended, and its fallback entitlements stay. */
  | ({ status: 'fallback' } & Granted)
  /** The last attempts to reach the server failed; the stored lease is good `until` its end. */
  | ({ status: 'offline'; license: 'licensed' | 'fallback' } & Granted)
  | { status: 'trial'; until: number }
  | { status: 'free'; trialDays?: number }
  | {
      status: 'expired'
      /** `lease`: the server was not reached for too long; connecting again may bring the license back. */
      of: 'license' | 'lease' | 'trial'
      at: number
      /** Whether the app may continue with its free tier. */
      freeTier: boolean
    }
  | { status: 'revoked'; reason: WithdrawnReason; at: number; freeTier: boolean }
) & {
  /** The clock of the device is behind a time that was already seen. That later time is then used. */
  clockSetBack: boolean
}

/** Corrections of a clock by its time server are no reason to tell anybody. */
const toleranceSeconds = 300
const day = 86_400

/**
 * The state that stored facts allow. It depends on nothing else.
 * @param facts undefined before the storage was read
 * @param now Unix seconds by the clock of the device
 * @param more `failing`: whether the last attempt to reach the server failed; `defaultTrialDays`: the length of a
 *   trial where the server has never named one
 */
export function stateOf(
  facts: Facts | undefined,
  now: number,
  { failing = false, defaultTrialDays }: { failing?: boolean; defaultTrialDays?: number | undefined } = {},
): State {
  if (!facts) return { status: 'starting', clockSetBack: false }
  const time = timeOf(facts, now)
  const clockSetBack = isSetBack(facts, now)
  const held = ofLicense(facts, time, failing)
  return { ...(held ?? ofInstall(facts, time, defaultTrialDays)), clockSetBack }
}

/** The time by which leases and trials end: never before one that was already seen. */
export const timeOf = ({ seen }: Pick<Facts, 'seen'>, now: number): number => Math.max(seen, now)

/** Whether the clock is behind a time that was seen, by more than a correction. */
export const isSetBack = ({ seen }: Pick<Facts, 'seen'>, now: number): boolean =>
  now < seen - toleranceSeconds

/** The moment at which the state ends by itself, if it does. */
export const endOf = (state: State): number | undefined => ('until' in state ? state.until : undefined)

/** Whether an app may use what has this name. */
export const has = (state: State, name: string): boolean =>
  'entitlements' in state && state.entitlements.includes(name)

/** How much of it an app may use: a number or text, or true when it has no value; undefined when it may not use it. */
export const value = (state: State, name: string): EntitlementValue | undefined =>
  'entitlements' in state && has(state, name) ? (ownIn(state.values, name) ?? true) : undefined

type Bare<Variant = State> = Variant extends State ? Omit<Variant, 'clockSetBack'> : never

function ofLicense({ license, settings }: Facts, time: number, failing: boolean): Bare | undefined {
  const proof = license?.proof
  if (!proof) return undefined
  const freeTier = settings?.freeTierEnabled ?? false
  const at = proof.issuedAt
  if ('reason' in proof) return { status: 'revoked', reason: withdrawn(proof.reason), at, freeTier }
  const { status, expiresAt, entitlements } = proof
  if (status === 'expired') return { status: 'expired', of: 'license', at: expiresAt, freeTier }
  if (status !== 'active' && status !== 'fallback') {
    return { status: 'revoked', reason: withdrawn(status), at, freeTier }
  }
  if (time > expiresAt) return { status: 'expired', of: 'lease', at: expiresAt, freeTier }
  const values = 'values' in proof ? proof.values : {}
  const granted = { until: expiresAt, entitlements, values, licenseExpiresAt: license.expiresAt }
  const kind = status === 'active' ? 'licensed' : 'fallback'
  return failing ? { status: 'offline', license: kind, ...granted } : { status: kind, ...granted }
}

/** A reason of a newer server counts as the strictest one. */
const withdrawn = (reason: string): WithdrawnReason =>
  reason === 'suspended' || reason === 'reminted' || reason === 'inactive' ? reason : 'revoked'

function ofInstall({ settings, trial }: Facts, time: number, defaultTrialDays: number | undefined): Bare {
  const days = settings?.trialDurationDays ?? defaultTrialDays
  const free = settings?.freeTierEnabled ?? false
  if (trial) {
    const until = trial.startedAt + (days ?? 0) * day
    if (!trial.used && time < until) return { status: 'trial', until }
    return free ? { status: 'free' } : { status: 'expired', of: 'trial', at: until, freeTier: false }
  }
  const offered = days ? { trialDays: days } : {}
  return { status: free ? 'free' : 'unlicensed', ...offered }
}

/** Remembers until the program ends. */
export function memoryStorage(text?: string): Storage {
  let kept = text
  return {
    read: () => kept,
    write(next) {
      kept = next
    },
  }
}

/** The part of `localStorage` that is used. */
type WebStorage = { getItem(name: string): string | null; setItem(name: string, value: string): void }

/** Keeps it in `localStorage`, or whatever has its shape, under a name. */
export const webStorage = (storage: WebStorage, name = 'keyledger'): Storage => ({
  read: () => storage.getItem(name) ?? undefined,
  write: (text) => storage.setItem(name, text),
})
