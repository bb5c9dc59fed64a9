import type { Keyset, Place } from '../keyset.ts'
import { createCalls } from './calls.ts'
import { createIdentity, type Identify } from './identity.ts'
import { createKeeper } from './keeper.ts'
import type { Ports } from './operations.ts'
import { type Clock, type Fetch, type Storage, systemClock } from './ports.ts'
import { createServers, type Relays } from './servers.ts'
import { builtAtFrom } from './updates.ts'
import { sdkVersion } from './version.ts'

/** How the client reaches the server; or the public keys that it ships with, when it never does. */
type Server =
  | {
      /** The address of the license server, `https://licenses.example.com`. */
      baseUrl: string
      /** It identifies the app and is no secret. */
      sdkKey: string
      /** The public keys to ship with the app, so that it does not have to fetch them first. */
      keys?: Keyset['keys']
    }
  | { baseUrl?: undefined; sdkKey?: undefined; keys: Keyset['keys'] }

export type ClientOptions = Place &
  Server & {
    /** Where the license, and the device's own key for license files, are kept: one text. */
    storage: Storage
    /**
     * How the vendor and the customer see this device, such as its host name. Devices with one name have a seat each. Only a
     * seat of which nothing but its name is known, from an import or a server, is taken over by the first device of that name.
     */
    deviceName?: string
    appVersion?: string
    /**
     * When the app was built: Unix seconds, ISO 8601 with its offset from UTC, or a date alone. Set it when you build, and where the
     * user of the device cannot change it: a license covers builds until its `updatesUntil`.
     */
    appBuiltAt?: number | string
    /** Where the app gets its releases from, such as `stable`: of which one to name a release that the license covers. */
    appChannel?: string
    /** `macos`, `windows`, `linux`, `web`, `workers` … */
    platform?: string
    /**
     * Says what the device is, so that it keeps its seat when its storage is lost, and so that a copy of its storage is worth
     * nothing elsewhere: `identifyDevice` of `@keyledger/client/node`. It is asked at the start and before each call. Without
     * it, as in browsers, a device is recognized by what is in its storage.
     */
    identity?: Identify
    /**
     * Relays of the customer's network, which give seats before the vendor's server is asked: their addresses in order, or what
     * finds them, such as `findRelays` of `@keyledger/client/node`. Keys are never taken from a relay: without `baseUrl`, ship them.
     */
    relays?: Relays
    /** Who uses the app, by a stable id: for licenses whose seats are of users. */
    userId?: string
    /** The app's own hash of an id of the machine, in place of the one in `identity`: 16 to 128 of `A–Z a–z 0–9 + / = _ -`. */
    machineHash?: string
    /** The length of a trial where the server has never named one. */
    defaultTrialDays?: number
    /** Refuses unsigned settings: set it for a product that has a trial length. */
    enforceSettings?: boolean
    /** How often a running app validates. A lease that ends sooner is renewed at half of its time. */
    refreshSeconds?: number
    /** How many days before its end a license is told to end soon: 7, if it is not said. */
    expiringDays?: number
    /** How long one request may take. */
    timeoutMs?: number
    /** Called when the storage cannot be read or written. */
    onStorageError?: (error: unknown) => void
    clock?: Clock
    fetch?: Fetch
    random?: () => number
  }

/** What the operations of a client use, with what was left out. */
export function portsOf(options: ClientOptions) {
  const { tenantId, productId, baseUrl, sdkKey, keys = {}, storage, defaultTrialDays } = options
  const { clock = systemClock, random = Math.random, timeoutMs = 15_000 } = options
  const { expiringDays = 7, appVersion, platform, onStorageError = () => undefined } = options
  // Called as a method of its own object, `fetch` throws in browsers.
  const { fetch = (url, init) => globalThis.fetch(url, init) } = options
  const place = { tenantId, productId }
  const identity = createIdentity(place, options)
  const builtAt = builtAtFrom(options.appBuiltAt)
  const circumstances = () => ({ defaultTrialDays, builtAt, device: identity.device() })
  const callsTo = (address: string) =>
    createCalls({ baseUrl: address, place, sdkKey, clock, fetch, random, timeoutMs })
  const ports: Ports = {
    servers: createServers(baseUrl, options.relays ?? [], callsTo),
    keeper: createKeeper({ place, storage, clock, keys, circumstances, expiringDays, onStorageError }),
    place,
    enforceSettings: options.enforceSettings ?? false,
    telemetry: { sdk: 'js', sdk_version: sdkVersion, app_version: appVersion, platform },
    build: { app_built_at: builtAt, app_channel: options.appChannel },
    identity,
    deviceName: options.deviceName,
    userId: options.userId,
    defaultTrialDays,
  }
  return { ports, clock, random }
}
