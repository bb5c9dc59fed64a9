import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { identifiedAtFirst } from './identity.ts'
import type { DeviceIdentity } from './marks.ts'

type Device = Omit<Extract<LicenseEvent, { type: 'DeviceActivated' }>['data'], 'at'> & {
  /** By what the other system recognized it; absent or null where it has nothing that an app could say here. */
  identity?: DeviceIdentity | null
}

export type ImportCommand = {
  type: 'ImportLicense'
  terms: LicenseTerms
  devices: readonly Device[]
  revoked: boolean
  /** Whether the other system had suspended it; a revoked license is not suspended as well. */
  suspended?: boolean
}

/**
 * A license of another system with its devices and its state there, all at the moment of the import: one append, so
 * that an import that is interrupted leaves no license half imported.
 * @throws Refusal `seat_limit_reached`; `assigned_to_another` for devices of a license whose seats are of people
 */
export function imported({ terms, devices, revoked, suspended = false }: ImportCommand): LicenseEvent[] {
  const named = [...new Map(devices.map((device) => [device.deviceId, device])).values()]
  if (terms.deviceLimit !== null && named.length > terms.deviceLimit) throw new Refusal('seat_limit_reached')
  if (terms.named && named.length > 0) throw new Refusal('assigned_to_another')
  const { at } = terms
  return [
    { type: 'LicenseImported', data: terms },
    ...named.flatMap(({ identity = null, ...device }, index): LicenseEvent[] => [
      { type: 'DeviceActivated', data: { ...device, ...(terms.floating && { fence: index + 1 }), at } },
      ...identifiedAtFirst({ ...device, identity: identity && { ...identity, imported: true } }, at),
    ]),
    ...(revoked
      ? [{ type: 'LicenseRevoked', data: { reason: 'imported as revoked', cause: 'person', at } } as const]
      : []),
    ...(suspended && !revoked
      ? [{ type: 'LicenseSuspended', data: { reason: 'imported as suspended', at } } as const]
      : []),
  ]
}
