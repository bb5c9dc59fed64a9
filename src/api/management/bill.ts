import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { catchUpWithLog } from '../../commands/cross-stream/read-models.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { momentOf } from '../../commands/origin.ts'
import { callerIn } from '../../http/authenticate.ts'
import { billParts, sendBill } from '../../http/licenses/bill-csv.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { errors, inUtc, momentIn, productQuery } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { refuseAllButGet } from '../../http/wrong-method.ts'
import type { Ports } from '../../ports.ts'
import { requireCustomerId } from './customers/schemas.ts'
import { requireLicenseId } from './licenses/licenses.ts'
import { requireProduct } from './products/products.ts'

const billQuery = z.strictObject({
  of: z.enum(billParts).default('totals').meta({
    description: 'What a row is: what was used under a meter of a license in one period, or one line of it',
    example: 'totals',
  }),
  from: momentIn.optional().meta({
    description:
      'Lines that were recorded at this time or later; defaults to the start of the present month in UTC',
  }),
  to: momentIn.optional().meta({ description: 'Lines that were recorded before this time; defaults to now' }),
  product: productQuery,
  customer: z.string().optional().meta({
    description: 'Only of licenses that are linked to this customer now',
    example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
  license: z.string().optional().meta({
    description: 'Only of this license, also of a test license, which are left out otherwise',
    example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
  }),
})

type Services = Ports<'db' | 'findProduct' | 'ledger' | 'now' | 'untilVisible'>

/** What was used, to be billed elsewhere. */
export function billRoutes(app: ZodApp, ports: Services): void {
  refuseAllButGet(app, '/v1/usage/export')
  app.get(
    '/v1/usage/export',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'exportMeteredUse',
        tags: ['Usage'],
        summary: 'Export what licenses used under their meters as CSV, to be billed',
        description:
          'Streams any number of rows. Amounts are exact. A range is by when lines were recorded: adjoining ranges have each line in one of ' +
          'them, so nothing is billed twice or left out; ask for a range once it has ended. `used` is the sum of `rolledOver`, ' +
          '`included`, `prepaid` and `overage`. Meters that the licenses of a customer share have no product; each line names its license. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.',
        querystring: billQuery,
        response: {
          200: {
            description: 'One total or line in each row, after a header',
            content: { 'text/csv': { schema: z.string() } },
          },
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { of, product: productId, customer, license } = request.query
      await catchUpWithLog(ports)
      if (productId !== undefined) await requireProduct(ports, tenantId, productId)
      const customerId = customer === undefined ? undefined : requireCustomerId(customer)
      if (customerId !== undefined) await requireCustomer(ports, tenantId, customerId)
      const licenseId = license === undefined ? undefined : requireLicenseId(license)
      if (licenseId !== undefined && !(await findLicense(ports.db, tenantId, licenseId)))
        throw notFound('license')
      const range = billRange(request.query, momentOf(ports))
      const query = { tenantId, productId, customerId, licenseId, ...range }
      return sendBill(reply, { db: ports.db, query, part: of, until: range.to })
    },
  )
}

/** What is recorded while it is read is not part of it. @throws Problem 422 */
function billRange({ from, to }: { from?: string | undefined; to?: string | undefined }, now: string) {
  const start = from === undefined ? `${now.slice(0, 7)}-01T00:00:00.000Z` : inUtc(from)
  const end = to === undefined ? now : inUtc(to)
  if (start >= end) throw new Problem(422, 'invalid_request', 'from must lie before to, and not ahead of now')
  return { from: start, to: end < now ? end : now }
}
