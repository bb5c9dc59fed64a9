import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AuditFilter } from '../../../projections/audit/queries.ts'

const one = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => [value].flat()[0]?.trim())
  .transform((value) => (value === '' ? undefined : value?.slice(0, 200)))
const day = one.transform((value) =>
  value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined,
)

/** The filters in the address; a value that is no day is ignored. */
const Query = z.object({
  cursor: one,
  actor: one,
  action: one,
  target: one,
  kind: one,
  /** The first and the last day in UTC. */
  from: day,
  to: day,
})

export type ShownFilter = Omit<z.infer<typeof Query>, 'cursor'>

export function auditQueryOf(request: FastifyRequest): { cursor: string | undefined; shown: ShownFilter } {
  const { cursor, ...shown } = Query.parse(request.query)
  return { cursor, shown }
}

const dayMs = 86_400_000

/** The filter of the query: `to` is the end of its day. */
export const filterOf = ({ target, from, to, ...rest }: ShownFilter): AuditFilter => ({
  ...rest,
  targetId: target,
  from: from && new Date(from).toISOString(),
  to: to && new Date(Date.parse(to) + dayMs).toISOString(),
})

/** The address of the list, or of an export, with these filters. */
export function auditPath(shown: Partial<ShownFilter>, path = '/dashboard/audit'): string {
  const given = Object.entries(shown).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
