import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { momentOf } from '../../commands/origin.ts'
import { isId } from '../../credentials/id.ts'
import { Slug } from '../../domain/values.ts'
import { billParts, sendBill } from '../../http/licenses/bill-csv.ts'
import { notFound, Problem } from '../../http/problem.ts'
import type { Ports } from '../../ports.ts'
import { pageRoute } from '../frame/page-route.ts'
import { one } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { principalOf } from '../session/principal.ts'

const Query = z.object({ month: one, of: one, product: one, customer: one, license: one })
const Bill = z.object({
  month: z.string().regex(/^(?!0000)\d{4}-(?:0[1-9]|1[0-2])$/),
  of: z.enum(billParts),
  product: Slug.optional(),
  customer: z.string().optional(),
  license: z.string().optional(),
})
type Bill = z.infer<typeof Bill>

/** What was used in a month as CSV, the same as the API exports. */
export function meteredUseFile(app: FastifyInstance, { ports }: PageContext): void {
  app.get('/metered-use.csv', pageRoute({ page: 'licenses:read', query: Query }), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { success, data } = Bill.safeParse(Query.parse(request.query))
    if (!success) throw new Problem(400, 'invalid_request', 'Choose a month and the rows of the file.')
    await requireScope(ports, tenantId, data)
    const { of, month, product: productId, customer: customerId, license: licenseId } = data
    const from = `${month}-01T00:00:00.000Z`
    const end = new Date(from)
    end.setUTCMonth(end.getUTCMonth() + 1)
    // What is recorded while it is read is not part of it.
    const now = momentOf(ports)
    const isOver = end.toISOString() <= now
    const query = { tenantId, productId, customerId, licenseId, from, to: isOver ? end.toISOString() : now }
    return sendBill(reply, { db: ports.db, query, part: of, until: end.toISOString() })
  })
}

/** @throws Problem 404; Refusal `customer_not_found` */
async function requireScope(
  ports: Ports<'db' | 'findProduct'>,
  tenantId: string,
  { product, customer, license }: Bill,
): Promise<void> {
  if (product !== undefined && !(await ports.findProduct(tenantId, product))) throw notFound('product')
  if (customer !== undefined) {
    if (!isId('cus', customer)) throw notFound('customer')
    await requireCustomer(ports, tenantId, customer)
  }
  if (license !== undefined) {
    if (!isId('lic', license) || !(await findLicense(ports.db, tenantId, license))) throw notFound('license')
  }
}
