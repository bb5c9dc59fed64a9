import type { FastifyRequest } from 'fastify'
import { z } from 'zod'

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
})

/** What a list's address says: the first one counts of what is said twice, and an empty filter filters nothing. */
export const queryOf = (request: FastifyRequest): z.infer<typeof Query> => Query.parse(request.query)
