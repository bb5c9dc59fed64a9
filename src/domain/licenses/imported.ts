import { Refusal } from '../refusal.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'

type Device = Omit<Extract<LicenseEvent, { type: 'DeviceActivated' }>['data'], 'at'>

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
 * @throws Refusal `seat_limit_reached`
 */
export function imported({ terms, devices, revoked, suspended = false }: ImportCommand): LicenseEvent[] {
  const named = [...new Map(devices.map((device) => [device.deviceId, device])).values()]
  if (terms.deviceLimit !== null && named.length > terms.deviceLimit) throw new Refusal('seat_limit_reached')
  const { at } = terms
  return [
    { type: 'LicenseImported', data: terms },
    ...named.map(
      (device, index): LicenseEvent => ({
        type: 'DeviceActivated',
        data: { ...device, ...(terms.floating && { fence: index + 1 }), at },
      }),
    ),
    ...(revoked
      ? [{ type: 'LicenseRevoked', data: { reason: 'imported as revoked', cause: 'person', at } } as const]
      : []),
    ...(suspended && !revoked
      ? [{ type: 'LicenseSuspended', data: { reason: 'imported as suspended', at } } as const]
      : []),
  ]
}
