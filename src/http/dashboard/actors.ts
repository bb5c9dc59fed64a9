import { findMembersEver } from '../../../projections/members/queries.ts'
import { findTokenNames } from '../../../projections/tokens/list.ts'
import type { Services } from '../../commands/services.ts'

/** Who did something, as people of the tenant call them. */
export type ActorName = (actor: string) => string

/** Looks up at once whoever stands as an actor: `member:…`, `token:…`, `operator:…`, `provider:…`, `system:…`. */
export async function actorNames(
  { db, subjects }: Pick<Services, 'db' | 'subjects'>,
  tenantId: string,
  actors: readonly (string | null)[],
): Promise<ActorName> {
  const idsOf = (kind: string) => [
    ...new Set(
      actors.flatMap((actor) => (actor?.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : [])),
    ),
  ]
  const members = await findMembersEver(db, tenantId, idsOf('member'))
  const people = await subjects.openPeople(
    tenantId,
    members.map(({ subjectId, email }) => ({ subjectId, email, name: null })),
  )
  const tokens = await findTokenNames(db, tenantId, idsOf('token'))
  const names = new Map<string, string>([
    ...members.map(
      ({ memberId }, index) => [`member:${memberId}`, people[index]?.email ?? memberId] as const,
    ),
    ...tokens.map(({ tokenId, name }) => [`token:${tokenId}`, `token “${name}”`] as const),
  ])
  return (actor) => names.get(actor) ?? actor.replace(':', ' ')
}
