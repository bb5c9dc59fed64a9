import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listProducts, type PresentProduct } from '../../../projections/products/queries.ts'
import type { Ports } from '../../ports.ts'

const one = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => [value].flat()[0])
  .transform((value) => (value === '' ? undefined : value))

const Query = z.object({
  cursor: one,
  show: one,
  product: one,
  status: one,
  provider: one,
  channel: one,
  event: one,
  code: one,
  actor: one,
  action: one,
  target: one,
  person: one,
  needs: one,
})

/** What a list's address says: the first one counts of what is said twice, and an empty filter filters nothing. */
export const queryOf = (request: FastifyRequest): z.infer<typeof Query> => Query.parse(request.query)

/** More than anybody chooses from. */
const mostChoices = 200

/** The products that a list may be narrowed down to. */
export async function productChoices({ db }: Ports<'db'>, tenantId: string): Promise<PresentProduct[]> {
  const { items } = await listProducts(db, tenantId, { after: undefined, limit: mostChoices })
  return items
}
