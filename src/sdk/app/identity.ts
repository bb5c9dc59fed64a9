import type { Place } from '../keyset.ts'

/** What an app says of its device, as hashes. A device that says the same again keeps its seat, whatever its name. */
export type DeviceIdentity = {
  /** A hash of an id of the machine: 16 to 128 of `A–Z a–z 0–9 + / = _ -`. */
  machineHash?: string | undefined
  /**
   * Hashes of up to 8 components in the same form, by names such as `board`, `disk`, `mac`, `os` and `tpm`. A device
   * whose machine hash has changed is recognized by most of its components.
   */
  device?: Readonly<Record<string, string>> | undefined
}

/** Reads the identity of the device. Hashes that depend on the tenant and the product say nothing to another vendor. */
export type Identify = (place: Place) => DeviceIdentity | Promise<DeviceIdentity>

/** The fields of a call; one that is undefined is not sent. */
export type SentIdentity = { machine_hash: string | undefined; device: DeviceIdentity['device'] }

/**
 * Asks the app. What is no hash is left out, and so is all of it when the app fails to say it: a device that cannot be
 * identified is recognized by its install id.
 */
export async function askIdentity(
  machineHash: string | undefined,
  identity: Identify | undefined,
  place: Place,
): Promise<SentIdentity> {
  const said = await (async () => identity?.(place))().catch(() => undefined)
  const machine = machineHash ?? said?.machineHash
  const device = said?.device
  return {
    machine_hash: isHash(machine) ? machine : undefined,
    device: device && Object.fromEntries(Object.entries(device).filter(([, value]) => isHash(value))),
  }
}

const isHash = (value: string | undefined): boolean =>
  value !== undefined && /^[A-Za-z0-9+/=_-]{16,128}$/.test(value)
