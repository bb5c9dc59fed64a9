import type { FastifyInstance } from 'fastify'
import { metersOfCustomers } from '../../commands/meters/owners.ts'
import { html } from '../../html.ts'
import { meterChanges } from '../license-changes/meters.ts'
import { changePages } from '../license-changes/pages.ts'
import { meterLinesPage } from '../metered-use/lines-route.ts'
import type { PageContext } from '../page-context.ts'
import { aboveIn, customerOf } from './choose.ts'

/** The lines of the meters that the licenses of a customer share, and the forms that change them. */
export function customerMeterPages(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  meterLinesPage(app, context, {
    kind: 'customer',
    owned: metersOfCustomers,
    async find(request) {
      const { customer, person } = await customerOf(ports, request)
      return {
        named: person.email ?? html`<code>${customer.customerId}</code>`,
        trail: aboveIn(customer.customerId),
      }
    },
  })
  changePages(app, context, {
    kind: 'customer',
    changes: meterChanges,
    async find(request) {
      const { customer, person } = await customerOf(ports, request)
      const { tenantId, customerId: id } = customer
      return {
        tenantId,
        id,
        path: `/dashboard/customers/${id}`,
        named: person.email ?? html`<code>${id}</code>`,
        owned: metersOfCustomers,
        meters: await metersOfCustomers.own(ports, tenantId, id),
      }
    },
    trail: ({ id }) => aboveIn(id),
  })
}
