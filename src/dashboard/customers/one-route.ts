import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CustomerEntry } from '../../../projections/customers.ts'
import { listDeliveries } from '../../../projections/deliveries/queries.ts'
import { findLicenses } from '../../../projections/licenses/queries.ts'
import { listSales } from '../../../projections/sales/queries.ts'
import { openOverrides } from '../../commands/customers/overrides.ts'
import { metersOfCustomers } from '../../commands/meters/owners.ts'
import { may } from '../../domain/members/roles.ts'
import { paidByCurrency } from '../../domain/sales/totals.ts'
import { readBuyers } from '../../sales/buyers.ts'
import { listRefusals } from '../../usage/read-refusals.ts'
import { shownDevices } from '../devices/route.ts'
import { shownLicenses } from '../licenses/route.ts'
import { MeterQuery, meterQuery, standingUseOf } from '../metered-use/use.ts'
import type { PageContext } from '../page-context.ts'
import { SeatQuery, seatUseOf } from '../seat-use/seat-use.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { type CustomerRequest, customerOf } from './choose.ts'
import { mergesOf } from './merge-route.ts'
import { shownNotes } from './notes-route.ts'
import { customerView, type OneCustomer } from './one-view.ts'
import { shownPeople } from './people-route.ts'
import { portalUseOf } from './portal-route.ts'

/** The page shows at most this many licenses of a customer, */
const maxLicenses = 100
/** this many of what belongs to them, of which the lists have the others, */
const newest = { after: undefined, limit: 5 }
/** and this many sales, of which it sums up more. */
const maxSales = 20
const summed = { after: undefined, limit: 1000 }

/** All that support asks about a buyer. */
export function onePage(app: FastifyInstance, { ports, show }: PageContext): void {
  app.get(
    '/customers/:id',
    auditedPage('customers:read', 'customer', SeatQuery.extend(meterQuery)),
    async (request: CustomerRequest, reply) => {
      const { role } = principalOf(request)
      const { person, ...entry } = await customerOf(ports, request)
      const mayChange = may(role, 'change_licenses')
      const [people, noted, own, sold, used] = await Promise.all([
        shownPeople(ports, entry.customer, { mayChange, limit: newest.limit }),
        shownNotes(ports, entry.customer, { mayChange, limit: newest.limit }),
        ownOf(ports, entry),
        salesOf(ports, entry),
        useOf(ports, entry, request),
      ])
      return show(reply, {
        title: person.email ?? entry.customer.customerId,
        nav: 'customers',
        content: (view) =>
          customerView(view, {
            ...entry,
            people,
            noted,
            ...own,
            ...sold,
            seatUse: used.seatUse,
            meteredUse: { ...used.meteredUse, mayChange },
            person,
            mayChange,
          }),
      })
    },
  )
}

type Services = PageContext['ports']
type Own = Pick<
  OneCustomer,
  'licenses' | 'hidden' | 'merges' | 'overrides' | 'devices' | 'refusals' | 'mails' | 'portal'
>

/** The licenses of a customer and what belongs to them; a query each, whatever the number of licenses. */
async function ownOf(ports: Services, { customer, licenseIds }: CustomerEntry): Promise<Own> {
  const { db } = ports
  const { tenantId, customerId } = customer
  await ports.refusals.flush()
  const [found, [overrides = []], devices, refusals, mails, portal, merges] = await Promise.all([
    findLicenses(db, tenantId, licenseIds.slice(0, maxLicenses)),
    openOverrides(ports, tenantId, [customer.overrides]),
    shownDevices(ports, tenantId, { customerId }, newest),
    listRefusals(db, tenantId, { customerId }, newest),
    listDeliveries(db, tenantId, { customerId, channel: 'mail' }, newest),
    portalUseOf(ports, customer, newest.limit),
    mergesOf(ports, customer),
  ])
  const licenses = await shownLicenses(ports, tenantId, found)
  return {
    licenses,
    hidden: licenseIds.length - licenses.length,
    overrides,
    devices: { items: devices.devices, more: devices.next !== undefined },
    refusals: { items: refusals.items, more: refusals.next !== undefined },
    mails: { items: mails.items, more: mails.next !== undefined },
    portal,
    merges,
  }
}

async function salesOf(
  ports: Services,
  { customer: { tenantId, customerId, subjectId } }: CustomerEntry,
): Promise<Pick<OneCustomer, 'sales' | 'paid'>> {
  const bought = await listSales(ports.db, tenantId, { customer: { customerId, subjectId } }, summed)
  return {
    sales: {
      items: await readBuyers(ports, tenantId, bought.items.slice(0, maxSales)),
      more: bought.items.length > maxSales,
    },
    // Of more than that, a sum would not be one.
    paid: bought.next === undefined ? paidByCurrency(bought.items) : [],
  }
}

async function useOf(
  ports: Services,
  { customer: { tenantId, customerId } }: CustomerEntry,
  { query }: FastifyRequest,
) {
  const scope = { tenantId, customerId }
  const [seatUse, meteredUse] = await Promise.all([
    seatUseOf(ports, scope, SeatQuery.parse(query)),
    standingUseOf(ports, metersOfCustomers, scope, MeterQuery.parse(query)),
  ])
  return { seatUse, meteredUse }
}
