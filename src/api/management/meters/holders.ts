import {
  findMetering,
  findSharedMeters,
  type Metering,
  type SharedMeters,
} from '../../../../projections/meters/licenses.ts'
import {
  meterOfLicense,
  metersOfLicense,
  ownMeter,
  sharedMeter,
  type UsableMeter,
} from '../../../commands/meters/meters.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { notFound } from '../../../http/problem.ts'
import type { Ports } from '../../../ports.ts'
import { requireCustomerId } from '../customers/schemas.ts'
import { requireLicenseId } from '../licenses/licenses.ts'

type Named = { id: string; meter: string }

/** Whose meters routes are about, and the words for it. Everything that names one @throws Problem 404 */
export type MeterHolder = {
  path: string
  tag: string
  scopes: { read: 'licenses:read' | 'customers:read'; write: 'licenses:write' | 'customers:write' }
  operations: Record<'list' | 'lines' | 'credit' | 'withdrawal' | 'correction', string>
  name: string
  users: string
  meters: string
  lines: string
  credits: string
  /** All meters that may be used now. */
  inUse(ports: Ports<'db'>, tenantId: string, id: string): Promise<UsableMeter[]>
  /** @returns the same id */
  requireId(ports: Ports<'db'>, tenantId: string, id: string): Promise<string>
  /** The meter that a new credit is spent from. @throws Refusal `meter_not_found`, `meter_is_shared` */
  forCredit(ports: Ports<'db'>, tenantId: string, named: Named): Promise<UsableMeter>
  /** @throws Refusal `meter_not_found` */
  ownMeter(ports: Ports<'db'>, tenantId: string, named: Named): Promise<UsableMeter>
}

export const ofLicenses: MeterHolder = {
  path: '/v1/licenses',
  tag: 'Licenses',
  scopes: { read: 'licenses:read', write: 'licenses:write' },
  operations: {
    list: 'listLicenseMeters',
    lines: 'listMeterLines',
    credit: 'addCredit',
    withdrawal: 'withdrawCredit',
    correction: 'correctUse',
  },
  name: 'a license',
  users: 'a license has',
  meters:
    'The meters are those of its key type as it is now; in place of one that its customer has too, that of the customer, which all ' +
    "of the customer's licenses share.",
  lines:
    'Lines of a meter that the key type no longer has stay. What the license used of a meter of its customer is in the lines of ' +
    'the customer.',
  credits: ' Where the customer of the license has the meter, add the credit to the customer.',
  async inUse(ports, tenantId, id) {
    return metersOfLicense(await requireMetering(ports, tenantId, id))
  },
  requireId: async (ports, tenantId, id) => (await requireMetering(ports, tenantId, id)).licenseId,
  async forCredit(ports, tenantId, { id, meter }) {
    const used = known(meterOfLicense(await requireMetering(ports, tenantId, id), meter))
    if ('customerId' in used.owner) throw new Refusal('meter_is_shared')
    return used
  },
  ownMeter: async (ports, tenantId, { id, meter }) =>
    known(ownMeter(await requireMetering(ports, tenantId, id), meter)),
}

export const ofCustomers: MeterHolder = {
  path: '/v1/customers',
  tag: 'Customers',
  scopes: { read: 'customers:read', write: 'customers:write' },
  operations: {
    list: 'listCustomerMeters',
    lines: 'listCustomerMeterLines',
    credit: 'addCustomerCredit',
    withdrawal: 'withdrawCustomerCredit',
    correction: 'correctCustomerUse',
  },
  name: 'a customer',
  users: "a customer's licenses have",
  meters: 'The meters are those that all licenses of the customer share, as they are now.',
  lines: 'Each names the license that used it. Lines of a meter that the customer no longer has stay.',
  credits: '',
  async inUse(ports, tenantId, id) {
    const shared = await requireShared(ports, tenantId, id)
    return shared.meters.flatMap(({ meter }) => sharedMeter(shared, meter) ?? [])
  },
  requireId: async (ports, tenantId, id) => (await requireShared(ports, tenantId, id)).customerId,
  forCredit: (ports, tenantId, named) => ofCustomers.ownMeter(ports, tenantId, named),
  ownMeter: async (ports, tenantId, { id, meter }) =>
    known(sharedMeter(await requireShared(ports, tenantId, id), meter)),
}

async function requireMetering({ db }: Ports<'db'>, tenantId: string, id: string): Promise<Metering> {
  const metering = await findMetering(db, tenantId, requireLicenseId(id))
  if (!metering) throw notFound('license')
  return metering
}

async function requireShared({ db }: Ports<'db'>, tenantId: string, id: string): Promise<SharedMeters> {
  const shared = await findSharedMeters(db, tenantId, requireCustomerId(id))
  if (!shared) throw notFound('customer')
  return shared
}

function known(meter: UsableMeter | undefined): UsableMeter {
  if (!meter) throw new Refusal('meter_not_found')
  return meter
}
