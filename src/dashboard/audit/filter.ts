import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type AuditEntry, type AuditFilter, vias } from '../../../projections/audit/queries.ts'
import { seesAddresses } from '../../domain/members/roles.ts'
import { actorNames } from '../../history/actors.ts'
import { openSources } from '../../history/audit-sources.ts'
import type { Ports } from '../../ports.ts'
import { one, oneDay } from '../lists/lists.ts'
import type { Principal } from '../session/principal.ts'

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

/** An entry with names in place of ids, and with the network address for those who may see it. */
export type ShownEntry = Omit<AuditEntry, 'sealedAddress'> & {
  who: string
  /** The name of the member or token that it is about; null for other targets. */
  targetName: string | null
  address: string | null
}

/** Opens what is sealed, for display only: it is unreadable once the person was erased. */
export async function shownEntries(
  ports: Ports<'db' | 'subjects'>,
  principal: Principal,
  entries: readonly AuditEntry[],
): Promise<ShownEntry[]> {
  const { tenantId } = principal
  const targets = entries.map(targetActor)
  const [nameOf, addresses] = await Promise.all([
    actorNames(ports, tenantId, [...entries.map(({ actor }) => actor), ...targets]),
    seesAddresses(principal.role) ? openSources(ports, tenantId, entries) : [],
  ])
  return entries.map(({ sealedAddress: _, ...entry }, index) => {
    const target = targets[index]
    return {
      ...entry,
      who: nameOf(entry.actor),
      targetName: target ? nameOf(target) : null,
      address: addresses[index] ?? null,
    }
  })
}

/** A member or token that an entry is about, as an actor, so that it gets its name. */
const targetActor = ({ targetKind, targetId }: AuditEntry): string | null =>
  targetId !== null && (targetKind === 'member' || targetKind === 'token')
    ? `${targetKind}:${targetId}`
    : null
