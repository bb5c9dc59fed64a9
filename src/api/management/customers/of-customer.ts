import { z } from 'zod'
import { listLicenses } from '../../../../projections/licenses/queries.ts'
import { requireCustomer } from '../../../commands/customers/customers.ts'
import { momentOf } from '../../../commands/origin.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors, onlyId, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { unknownPerson } from '../../../vault/subjects.ts'
import { answerPage } from '../page.ts'
import { answerSales } from '../sales/sales.ts'
import { saleOut } from '../sales/schemas.ts'
import { placeIn } from './schemas.ts'

/** What belongs to a customer: their licenses, and their sales. */
export function ofCustomerRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'now' | 'subjects'>,
  cursors: Cursors,
): void {
  app.get(
    '/v1/customers/:id/licenses',
    {
      config: { scope: ['customers:read', 'licenses:read'] },
      schema: {
        operationId: 'listLicensesOfCustomer',
        tags: ['Customers'],
        summary: "List a customer's linked licenses, newest first",
        description: 'A license that only has the same email address is not among them: link it first.',
        params: onlyId,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of licenses', pageOf(licenseOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      await requireCustomer(ports, tenantId, customerId)
      const now = momentOf(ports)
      return answerPage(
        cursors,
        [tenantId, 'licenses of a customer', customerId],
        request.query,
        (keyset) => listLicenses(ports.db, tenantId, { customerId }, now, keyset),
        async (entries) => {
          const holders = entries.map(({ license }) => license.holder)
          const people = await ports.subjects.openPeople(tenantId, holders)
          return entries.map((entry, index) => licenseView(entry, people[index] ?? unknownPerson, now))
        },
      )
    },
  )

  app.get(
    '/v1/customers/:id/sales',
    {
      config: { scope: ['customers:read', 'licenses:read'] },
      schema: {
        operationId: 'listSalesOfCustomer',
        tags: ['Customers'],
        summary: "List the sales of a customer's licenses and those to the same email address, newest first",
        description: 'Sales that are parked and have no license yet are among them.',
        params: onlyId,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of sales', pageOf(saleOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId, customerId } = placeIn(request)
      const { customer } = await requireCustomer(ports, tenantId, customerId)
      const filter = { customer: { customerId, subjectId: customer.subjectId } }
      return answerSales(ports, cursors, tenantId, filter, request.query)
    },
  )
}
