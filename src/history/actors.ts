import { findCurrentAndFormerMembers } from '../../projections/members.ts'
import { findSealedOf } from '../../projections/subjects.ts'
import { findTokenNames } from '../../projections/tokens/list.ts'
import { type PublicName, publicNames } from '../domain/licenses/event-names.ts'
import type { Ports } from '../ports.ts'

export const actorKinds = ['token', 'member', 'customer', 'provider', 'client', 'operator', 'system'] as const

/** An actor; `name` is the address of a member or a customer, or the name of a token, and the id for others. */
export type NamedActor = { kind: (typeof actorKinds)[number]; id: string; name: string }

/** Names an actor from an event's metadata. */
export type NameActor = (actor: string) => NamedActor

/** Looks up the names of actors in one go: `member:…`, `customer:…`, `token:…`, `operator:…`, `provider:…`, `system:…`. */
export async function nameActors(
  { db, subjects }: Ports<'db' | 'subjects'>,
  tenantId: string,
  actors: readonly (string | null)[],
): Promise<NameActor> {
  const parts = actors.flatMap((actor) => (actor === null ? [] : [partsOf(actor)]))
  const idsOf = (kind: NamedActor['kind']) => [
    ...new Set(parts.filter((part) => part.kind === kind).map(({ id }) => id)),
  ]
  const memberIds = idsOf('member')
  const tokenIds = idsOf('token')
  const members = memberIds.length > 0 ? await findCurrentAndFormerMembers(db, tenantId, memberIds) : []
  const people = await subjects.openPeople(
    tenantId,
    members.map(({ subjectId, email }) => ({ subjectId, email, name: null })),
  )
  const customers = await addressesOf({ db, subjects }, tenantId, idsOf('customer'))
  const tokens = tokenIds.length > 0 ? await findTokenNames(db, tenantId, tokenIds) : []
  const names = new Map<string, string>([
    ...members.map(
      ({ memberId }, index) => [`member:${memberId}`, people[index]?.email ?? memberId] as const,
    ),
    ...customers,
    ...tokens.map(({ tokenId, name }) => [`token:${tokenId}`, name] as const),
  ])
  return (actor) => {
    const { kind, id } = partsOf(actor)
    return { kind, id, name: names.get(actor) ?? id }
  }
}

/** The addresses of people who used the portal, by their actors. An erased person has none. */
async function addressesOf(
  { db, subjects }: Ports<'db' | 'subjects'>,
  tenantId: string,
  subjectIds: readonly string[],
): Promise<(readonly [actor: string, email: string])[]> {
  if (subjectIds.length === 0) return []
  const sealed = await findSealedOf(db, tenantId, subjectIds)
  const people = await subjects.openPeople(tenantId, sealed)
  return sealed.flatMap(({ subjectId }, index) => {
    const email = people[index]?.email ?? null
    return email === null ? [] : [[`customer:${subjectId}`, email] as const]
  })
}

function partsOf(actor: string): Omit<NamedActor, 'name'> {
  const colon = actor.indexOf(':')
  const kind = actorKinds.find((known) => known === actor.slice(0, colon)) ?? 'system'
  return { kind, id: actor.slice(colon + 1) }
}

/** The actor in a sentence: `token “CI”`, `ada@example.com`, `customer ada@example.com`, `provider stripe`. */
function actorWords({ kind, id, name }: NamedActor): string {
  if (kind === 'token' && name !== id) return `token “${name}”`
  return kind === 'member' && name !== id ? name : `${kind} ${name}`
}

/** The events that only a customer causes. Their sentences have the customer as the subject. */
const byCustomers: ReadonlySet<PublicName> = new Set<PublicName>([
  publicNames.SeatFreedByCustomer,
  publicNames.DeviceNamed,
])

type Happening = { event: PublicName; summary: string; actor: NamedActor }

/**
 * An event and who caused it: `Suspended` and `by ada@example.com`, or one sentence such as `grace@example.com freed
 * the seat of “Laptop”`, which needs no `by`.
 */
export function happeningInWords({ event, summary, actor }: Happening): { what: string; by: string | null } {
  if (!byCustomers.has(event)) return { what: summary, by: `by ${actorWords(actor)}` }
  const who = actor.name === actor.id ? actorWords(actor) : actor.name
  return { what: `${who} ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`, by: null }
}

export type ActorName = (actor: string) => string

/** As {@link nameActors}, with names for sentences. */
export async function actorNames(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  actors: readonly (string | null)[],
): Promise<ActorName> {
  const nameOf = await nameActors(ports, tenantId, actors)
  return (actor) => actorWords(nameOf(actor))
}
