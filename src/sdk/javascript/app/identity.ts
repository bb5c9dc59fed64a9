import type { Place } from '../keyset.ts'
import type { LeasedDevice } from '../lease2.ts'

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

/** What the app has said of the device. */
export type Identity = {
  /** Asks the app again. While it fails to answer, what it said before stays. */
  ask(): Promise<void>
  /** Undefined when it says nothing: such a device is recognized by what is in its storage. */
  device(): LeasedDevice | undefined
}

/** @param machineHash comes before the one that `identity` says */
export function createIdentity(
  place: Place,
  { machineHash, identity }: { machineHash?: string | undefined; identity?: Identify | undefined },
): Identity {
  let known: LeasedDevice | undefined
  return {
    device: () => known,
    async ask() {
      const said = await (async () => identity?.(place))().catch(() => undefined)
      const machine = machineHash ?? said?.machineHash
      const components = Object.fromEntries(
        Object.entries(said?.device ?? {}).filter(([, value]) => isHash(value)),
      )
      if (!isHash(machine) && Object.keys(components).length === 0) return
      known = { machineHash: isHash(machine) ? machine : null, components }
    },
  }
}

/** What is no hash is left out. */
const isHash = (value: string | undefined): value is string =>
  value !== undefined && /^[A-Za-z0-9+/=_-]{16,128}$/.test(value)
