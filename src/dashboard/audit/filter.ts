import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type AuditFilter, vias } from '../../../projections/audit/queries.ts'
import { one, oneDay } from '../lists/lists.ts'

const text = one.transform((value) => value?.slice(0, 200))

/** The filters in the address; a value that is no day is ignored. */
export const AuditQuery = z.object({
  cursor: one,
  actor: text,
  action: text,
  target: text,
  kind: text,
  via: one.pipe(z.enum(vias).optional().catch(undefined)),
  /** The first and the last day in UTC. */
  from: oneDay,
  to: oneDay,
})

export type ShownFilter = Omit<z.infer<typeof AuditQuery>, 'cursor'>

export function auditQueryOf(request: FastifyRequest): { cursor: string | undefined; shown: ShownFilter } {
  const { cursor, ...shown } = AuditQuery.parse(request.query)
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
export function auditPath(
  shown: { [Name in keyof ShownFilter]?: ShownFilter[Name] | undefined },
  path = '/dashboard/audit',
): string {
  const given = Object.entries(shown).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
