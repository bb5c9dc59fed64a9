import type { FastifyInstance } from 'fastify'
import { metersOfCustomers } from '../../commands/meters/owners.ts'
import { html } from '../../html.ts'
import { meterChanges } from '../license-changes/meters.ts'
import { changePages } from '../license-changes/pages.ts'
import { meterLinesPage } from '../metered-use/lines-route.ts'
import type { PageContext } from '../page-context.ts'
import { aboveIn, customerOf } from './choose.ts'

const nameOf = ({ customer, person }: Awaited<ReturnType<typeof customerOf>>) =>
  person.email ?? html`<code>${customer.customerId}</code>`

/** The lines of the meters that the licenses of a customer share, and the forms that change them. */
export function customerMeterPages(app: FastifyInstance, context: PageContext): void {
  const { ports } = context
  meterLinesPage(app, context, {
    kind: 'customer',
    owned: metersOfCustomers,
    async find(request) {
      const found = await customerOf(ports, request)
      return { named: nameOf(found), trail: aboveIn(found.customer.customerId) }
    },
  })
  changePages(app, context, {
    kind: 'customer',
    changes: meterChanges,
    async find(request) {
      const found = await customerOf(ports, request)
      const { tenantId, customerId: id } = found.customer
      return {
        tenantId,
        id,
        path: `/dashboard/customers/${id}`,
        named: nameOf(found),
        owned: metersOfCustomers,
        meters: await metersOfCustomers.own(ports, tenantId, id),
      }
    },
    trail: ({ id }) => aboveIn(id),
  })
}
