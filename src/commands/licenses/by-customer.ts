import { findSeat } from '../../../projections/licenses/seats.ts'
import { licenses } from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { stateOf } from './licenses.ts'

/** How many seats a customer may free within 30 days where the product does not say. */
const usualSeatFrees = 3

/** How many seats of a product's licenses a customer may free within 30 days. */
export const seatFreesOf = (settings: { customerSeatFrees?: number | undefined }): number =>
  settings.customerSeatFrees ?? usualSeatFrees

type Device = { tenantId: string; licenseId: string; instanceId: string }

/**
 * Frees the seat of a device for the customer. Sent twice, it counts once.
 * @returns the product, for its usage counts
 * @throws Refusal `license_not_found`, `device_not_found`, `seat_frees_off`, `seat_frees_spent`
 */
export async function freeSeat(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now'>,
  device: Device,
  origin: Origin,
): Promise<{ productId: string; freed: boolean }> {
  const at = momentOf(ports)
  const { found, options } = await loaded(ports, device)
  const { productId } = found.license
  const product = await ports.findProduct(device.tenantId, productId)
  const most = seatFreesOf(product?.settings ?? {})
  const command = { type: 'FreeSeat', deviceId: found.deviceId, most, at } as const
  const { events } = await ports.execute(licenses, device.licenseId, command, causeOf(origin, at), options)
  return { productId, freed: events.length > 0 }
}

/**
 * Gives a device a name of the customer's own, sealed under their key.
 * @param name null for the name that the app reported
 * @throws Refusal `license_not_found`, `device_not_found`, `subject_not_found` for a person who was erased
 */
export async function nameDevice(
  ports: Ports<'db' | 'execute' | 'now' | 'subjects'>,
  { subjectId, name, ...device }: Device & { subjectId: string; name: string | null },
  origin: Origin,
): Promise<void> {
  const { tenantId, licenseId } = device
  const at = momentOf(ports)
  const { found, options } = await loaded(ports, device)
  const [known] = await ports.subjects.openDeviceNames(tenantId, [found.seat.givenName])
  if (known === name) return
  const text = name === null ? null : await ports.subjects.sealDeviceName(tenantId, subjectId, name)
  if (name !== null && text === null) throw new Refusal('subject_not_found')
  const command = {
    type: 'NameDevice',
    deviceId: found.deviceId,
    name: text === null ? null : { subjectId, text },
    at,
  } as const
  await ports.execute(licenses, licenseId, command, causeOf(origin, at), options)
}

async function loaded(ports: Ports<'db'>, { tenantId, licenseId, instanceId }: Device) {
  const find = async () => {
    const entry = await findSeat(ports.db, tenantId, licenseId, { instanceId })
    if (!entry) throw new Refusal('license_not_found')
    if (!entry.seat) throw new Refusal('device_not_found')
    return { ...entry, seat: entry.seat, deviceId: entry.seat.deviceId }
  }
  const found = await find()
  return { found, options: { loaded: stateOf(found), read: async () => stateOf(await find()) } }
}
