import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listProducts, type PresentProduct } from '../../../projections/products/queries.ts'
import type { Ports } from '../../ports.ts'
import { one } from './query.ts'

const Query = z.object({
  cursor: one,
  show: one,
  product: one,
  customer: one,
  status: one,
  provider: one,
  channel: one,
  event: one,
  endpoint: one,
  code: one,
  person: one,
  needs: one,
  call: one,
  reason: one,
})

/** The query of a list: of a repeated parameter the first counts, and an empty filter is ignored. */
export const queryOf = (request: FastifyRequest): z.infer<typeof Query> => Query.parse(request.query)

/** The maximum number of options in a filter. */
const maxChoices = 200

/** The options of the product filter. */
export async function productChoices({ db }: Ports<'db'>, tenantId: string): Promise<PresentProduct[]> {
  const { items } = await listProducts(db, tenantId, { after: undefined, limit: maxChoices })
  return items
}
