import { createHash } from 'node:crypto'
import type { DeviceIdentity } from '../app/index.ts'
import type { Place } from '../keyset.ts'
import { readLinux } from './linux.ts'
import { readMacos } from './macos.ts'
import { isShared, plain } from './shared-values.ts'
import { type Reading, type System, thisSystem } from './system.ts'
import { readWindows } from './windows.ts'

const readings: Readonly<Record<string, (system: System) => Promise<Reading>>> = {
  linux: readLinux,
  darwin: readMacos,
  win32: readWindows,
}

/**
 * Reads what tells this machine from others, for the option `identity` of the app client: the ids of the operating
 * system, firmware, board and disk, and a MAC address. Only hashes are returned, which also depend on the product: another
 * product gets others. It never throws. What cannot be read, or is the same on many machines, is left out.
 *
 * In containers and on other systems nothing is left, and no id is made up: the client sends the random id of its
 * storage with every activation anyway, and by that the device is recognized for as long as the storage exists.
 * @returns the same at each call, as long as the machine has the same parts
 */
export async function identifyDevice(place: Place, system: System = thisSystem): Promise<DeviceIdentity> {
  try {
    return identityOf(place, (await readings[system.platform]?.(system)) ?? nothing)
  } catch {
    return {}
  }
}

const nothing: Reading = { machine: [], components: {} }

/**
 * What is sent of a machine: base64url of the SHA-256 of the JSON array `["keyledger device", tenantId, productId, name, …values]`,
 * with the name `machine` for the machine itself. SDKs in other languages make the same hashes.
 */
export function identityOf(place: Place, { machine, components }: Reading): DeviceIdentity {
  const telling = Object.entries(components).filter(
    (one): one is [string, string] => one[1] !== undefined && !isShared(one[1]),
  )
  const device = Object.fromEntries(telling.map(([name, value]) => [name, hash(place, name, [value])]))
  return { machineHash: machineHash(place, machine), device }
}

/** While a part cannot be read, there is no hash: another one would stand for another machine. */
function machineHash(place: Place, machine: Reading['machine']): string | undefined {
  const known = machine.filter((value) => value !== undefined)
  const telling = known.filter((value) => !isShared(value))
  const isWhole = known.length === machine.length && telling.length > 0
  return isWhole ? hash(place, 'machine', telling) : undefined
}

function hash({ tenantId, productId }: Place, name: string, values: readonly string[]): string {
  const text = JSON.stringify(['keyledger device', tenantId, productId, name, ...values.map(plain)])
  return createHash('sha256').update(text).digest('base64url')
}
