import { findSeat } from '../../../projections/licenses/seats.ts'
import { licenses } from '../../domain/licenses/license.ts'
import type { Ports } from '../../ports.ts'
import type { SaidOfMachine } from '../../vault/device-hashing.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

type Identified = { tenantId: string; licenseId: string; instanceId: string; said: SaidOfMachine }

/**
 * Records what the device in a seat says of its machine, if that is new. A device without an active seat is left unchanged.
 * @returns whether two machines with one hash were noticed in the seat
 */
export async function identifyDevice(
  ports: Ports<'db' | 'deviceHashing' | 'execute' | 'now'>,
  { tenantId, licenseId, instanceId, said }: Identified,
  origin: Origin,
): Promise<boolean> {
  const at = momentOf(ports)
  const find = async () => {
    const found = await findSeat(ports.db, tenantId, licenseId, { instanceId })
    return found ?? Promise.reject(new Error(`the license ${licenseId} is not in the read models`))
  }
  const found = await find()
  const { seat, license } = found
  if (seat?.status !== 'active') return false
  const identities = await ports.deviceHashing.identitiesOf(license, said)
  const claim = { instanceId, installId: null, name: null, identities }
  const command = { type: 'IdentifyDevice', deviceId: seat.deviceId, claim, at } as const
  const { events } = await ports.execute(licenses, licenseId, command, causeOf(origin, at), {
    loaded: stateOf(found),
    read: async () => stateOf(await find()),
  })
  return events.some(({ type }) => type === 'DeviceInTwoPlaces')
}
