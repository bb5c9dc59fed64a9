import {
  findMetering,
  findSharedMeters,
  type Metering,
  type SharedMeters,
} from '../../../projections/meters/licenses.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { meterOfLicense, metersOfLicense, ownMeter, sharedMeter, type UsableMeter } from './meters.ts'

type Named = { id: string; meter: string }

/**
 * The meters of licenses, or those that licenses of customers share, by the id of the license or the customer.
 * Everything that names one @throws Refusal `license_not_found` or `customer_not_found`, also for a malformed id
 */
export type OwnedMeters = {
  /** All meters that may be used now: of a license, also those that it shares. */
  inUse(ports: Ports<'db'>, tenantId: string, id: string): Promise<UsableMeter[]>
  /** Those that are its own, which can be changed. */
  own(ports: Ports<'db'>, tenantId: string, id: string): Promise<UsableMeter[]>
  /** @throws Refusal `meter_not_found` */
  ownMeter(ports: Ports<'db'>, tenantId: string, named: Named): Promise<UsableMeter>
  /** The meter that a new credit is spent from. @throws Refusal `meter_not_found`, `meter_is_shared` */
  forCredit(ports: Ports<'db'>, tenantId: string, named: Named): Promise<UsableMeter>
}

export const metersOfLicenses: OwnedMeters = {
  async inUse(ports, tenantId, id) {
    return metersOfLicense(await requireMetering(ports, tenantId, id))
  },
  async own(ports, tenantId, id) {
    const metering = await requireMetering(ports, tenantId, id)
    return metering.meters.flatMap(({ meter }) => ownMeter(metering, meter) ?? [])
  },
  ownMeter: async (ports, tenantId, { id, meter }) =>
    known(ownMeter(await requireMetering(ports, tenantId, id), meter)),
  async forCredit(ports, tenantId, { id, meter }) {
    const used = known(meterOfLicense(await requireMetering(ports, tenantId, id), meter))
    // Nothing would be spent of a credit of its own.
    if ('customerId' in used.owner) throw new Refusal('meter_is_shared')
    return used
  },
}

const metersShared: OwnedMeters['own'] = async (ports, tenantId, id) => {
  const shared = await requireShared(ports, tenantId, id)
  return shared.meters.flatMap(({ meter }) => sharedMeter(shared, meter) ?? [])
}

const oneShared: OwnedMeters['ownMeter'] = async (ports, tenantId, { id, meter }) =>
  known(sharedMeter(await requireShared(ports, tenantId, id), meter))

export const metersOfCustomers: OwnedMeters = {
  inUse: metersShared,
  own: metersShared,
  ownMeter: oneShared,
  forCredit: oneShared,
}

async function requireMetering({ db }: Ports<'db'>, tenantId: string, id: string): Promise<Metering> {
  const metering = isId('lic', id) ? await findMetering(db, tenantId, id) : undefined
  if (!metering) throw new Refusal('license_not_found')
  return metering
}

async function requireShared({ db }: Ports<'db'>, tenantId: string, id: string): Promise<SharedMeters> {
  const shared = isId('cus', id) ? await findSharedMeters(db, tenantId, id) : undefined
  if (!shared) throw new Refusal('customer_not_found')
  return shared
}

function known(meter: UsableMeter | undefined): UsableMeter {
  if (!meter) throw new Refusal('meter_not_found')
  return meter
}
