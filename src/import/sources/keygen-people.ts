import { z } from 'zod'
import type { ForeignOrganization, ForeignPerson } from '../foreign.ts'
import {
  dataOf,
  onceFor,
  type Piece,
  Resource,
  relatedId,
  type Shared,
  textFields,
  textOf,
  wholeOf,
} from './source.ts'

const User = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  group: z.string().nullable(),
  banned: z.boolean(),
})
type User = z.infer<typeof User>

/** What is kept of a user. */
export function userOf(user: Resource): User {
  const { id, attributes } = user
  const parts = [attributes.firstName, attributes.lastName].flatMap((part) => textOf(part) ?? [])
  return {
    id,
    email: textOf(attributes.email),
    name: textOf(attributes.fullName) ?? (parts.join(' ') || null),
    group: relatedId(user, 'group'),
    banned: attributes.status === 'BANNED',
  }
}

/** The owner of a license, who was its user in earlier versions of the API. */
export function ownerOf(license: Resource, shared: Shared): User | undefined {
  const id = relatedId(license, 'owner') ?? relatedId(license, 'user')
  const user = shared.get('users', id)
  return user === undefined ? undefined : User.parse(user)
}

/** A group as a piece has it, since its place is needed for the report. */
export const GroupRead = z.object({ from: z.string(), group: Resource })
type GroupRead = z.infer<typeof GroupRead>

const Owner = z.object({ group: z.string().nullable(), user: z.string().nullable() })

/** What is kept of a group's owner. */
export const groupOwnerOf = (owner: Resource): z.infer<typeof Owner> => ({
  group: relatedId(owner, 'group'),
  user: relatedId(owner, 'user'),
})

type Group = { organization: ForeignOrganization; userIds: ReadonlySet<string> }

/** The groups by their ids: owners are administrators, and users members. */
export const groupsOf = onceFor((shared): ReadonlyMap<string, Group> => {
  const owners = idsByGroup([...shared.all('group-owners').values()].map((data) => Owner.parse(data)))
  const members = idsByGroup(
    [...shared.all('users').values()]
      .map((data) => User.parse(data))
      .map(({ id, group }) => ({ group, user: id })),
  )
  return new Map(
    [...shared.all('groups')].map(([id, data]) => [
      id,
      groupOf(
        GroupRead.parse(data),
        { owners: owners.get(id) ?? [], members: members.get(id) ?? [] },
        shared,
      ),
    ]),
  )
})

function idsByGroup(links: readonly z.infer<typeof Owner>[]): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { group, user } of links) {
    if (group === null || user === null) continue
    const known = ids.get(group)
    if (known) known.push(user)
    else ids.set(group, [user])
  }
  return ids
}

function groupOf(
  { from, group: { id, attributes } }: GroupRead,
  { owners, members }: { owners: readonly string[]; members: readonly string[] },
  shared: Shared,
): Group {
  const people = (ids: readonly string[], role: ForeignPerson['role']) =>
    peopleOf(
      ids
        .map((userId) => shared.get('users', userId))
        .map((user) => (user === undefined ? null : User.parse(user))),
      role,
    )
  const others = members.filter((userId) => !owners.includes(userId))
  const of = [people(owners, 'administrator'), people(others, 'member')]
  return {
    userIds: new Set([...owners, ...members]),
    organization: {
      from,
      externalId: id,
      name: textOf(attributes.name),
      email: null,
      people: of.flatMap((some) => some.people),
      metadata: textFields(attributes.metadata),
      leftOut: [...limitsOf(attributes), ...bannedOf(of)],
    },
  }
}

/** @param users null for one who is not in the export, and has no address therefore */
function peopleOf(users: readonly (User | null)[], role: ForeignPerson['role']) {
  const allowed = users.filter((user) => user?.banned !== true)
  return {
    people: allowed.map((user) => ({ email: user?.email ?? null, name: user?.name ?? null, role })),
    banned: users.length - allowed.length,
  }
}

function bannedOf(some: readonly { banned: number }[]): string[] {
  const banned = some.reduce((sum, one) => sum + one.banned, 0)
  return banned === 0 ? [] : [`${banned} of its people are left out: they are banned there.`]
}

const limits = { maxUsers: 'users', maxLicenses: 'licenses', maxMachines: 'machines' }

const limitsOf = (attributes: Resource['attributes']): string[] =>
  Object.entries(limits).flatMap(([field, what]) => {
    const limit = wholeOf(attributes[field])
    return limit === null ? [] : [`Its limit of ${limit} ${what} is left out: organizations have no limits.`]
  })

const Users = z.looseObject({ meta: z.looseObject({ count: z.number() }) }).catch({ meta: { count: 0 } })

/** How many users a license has besides its owner, who counts as one. */
export const otherUsersOf = (license: Resource): number =>
  Users.parse(license.relationships.users).meta.count - (relatedId(license, 'owner') === null ? 0 : 1)

/**
 * The organization that a license belongs to: its group; else, where it has users, one of its own, with its owner as administrator and its
 * users as members. So nobody sees a license there that they do not use.
 */
export function organizationOf(
  from: string,
  license: Resource,
  { pieces, shared }: { pieces: readonly Piece[]; shared: Shared },
): { organization?: ForeignOrganization; leftOut: string[] } {
  const owner = ownerOf(license, shared)
  const users = dataOf(pieces, 'license-users', User).filter(({ id }) => id !== owner?.id)
  const unread = otherUsersOf(license) - users.length
  const leftOut = unread > 0 ? [`${unread} of its users are left out: they are not in the export.`] : []
  const groupId = relatedId(license, 'group')
  if (groupId === null) {
    const organization = users.length === 0 ? undefined : organizationOfUsers(from, license, { owner, users })
    return { ...(organization && { organization }), leftOut }
  }
  const group = groupsOf(shared).get(groupId)
  if (group === undefined) return { leftOut: [...leftOut, 'Its group is left out: it is not in the export.'] }
  const beside = [...(owner ? [owner] : []), ...users].filter(({ id }) => !group.userIds.has(id)).length
  return {
    organization: group.organization,
    leftOut: [
      ...leftOut,
      ...(beside === 0 ? [] : [`${beside} of its users are left out: they are not in its group.`]),
    ],
  }
}

function organizationOfUsers(
  from: string,
  { id, attributes }: Resource,
  { owner, users }: { owner: User | undefined; users: readonly User[] },
): ForeignOrganization {
  const of = [peopleOf(owner ? [owner] : [], 'administrator'), peopleOf(users, 'member')]
  return {
    from,
    externalId: id,
    name: textOf(attributes.name),
    email: null,
    people: of.flatMap((some) => some.people),
    metadata: {},
    leftOut: bannedOf(of),
  }
}
