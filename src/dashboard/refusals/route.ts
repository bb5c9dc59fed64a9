import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Slug } from '../../domain/values.ts'
import { listRefusals, listUnknownKeys } from '../../usage/read-refusals.ts'
import { callNames } from '../../usage/refusals.ts'
import { one, oneCustomer, productChoices } from '../lists/lists.ts'
import type { PageContext } from '../page-context.ts'
import { auditedPage, principalOf } from '../session/principal.ts'
import { refusalsView } from './view.ts'

const pageSize = 50
const keysShown = 50

const Filter = z.object({
  product: Slug.optional().catch(undefined),
  call: z.enum(callNames).optional().catch(undefined),
  reason: z.string().max(40).optional().catch(undefined),
})

const Query = z.object({ cursor: one, product: one, call: one, reason: one, customer: oneCustomer })

/** The refused calls of all licenses, and calls with unknown keys. It shows devices, so the view is recorded. */
export function refusalsPage(app: FastifyInstance, { ports, cursors, show }: PageContext): void {
  app.get('/refusals', auditedPage('licenses:read', 'devices', Query), async (request, reply) => {
    const { tenantId } = principalOf(request)
    const query = Query.parse(request.query)
    const { cursor, customer } = query
    const { product, call, reason } = Filter.parse(query)
    const filter = { product, call, reason, customer }
    const boundTo = [tenantId, 'dashboard refusals', JSON.stringify(filter)]
    const keyset = { after: cursors.read(boundTo, cursor), limit: pageSize }
    await ports.refusals.flush()
    const [{ items: refusals, next }, { items: unknownKeys }, products] = await Promise.all([
      listRefusals(ports.db, tenantId, { productId: product, call, reason, customerId: customer }, keyset),
      listUnknownKeys(ports.db, tenantId, product, { after: undefined, limit: keysShown }),
      productChoices(ports, tenantId),
    ])
    return show(reply, {
      title: 'Refusals',
      nav: 'refusals',
      content: (view) =>
        refusalsView(view, {
          refusals,
          unknownKeys,
          products,
          filter,
          cursor,
          next: cursors.write(boundTo, next),
        }),
    })
  })
}
