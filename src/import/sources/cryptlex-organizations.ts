import { z } from 'zod'
import type { ForeignOrganization } from '../foreign.ts'
import { onceFor, type Shared, textOf, wholeOf } from './source.ts'

/** An object of the API of Cryptlex. */
export const Fields = z.looseObject({ id: z.string() })
export type Fields = z.infer<typeof Fields>

const unknown = z.unknown().optional()
const Person = z.looseObject({ email: unknown, firstName: unknown, lastName: unknown })

/** The address and the name of a user, wherever one is. */
export function personOf(user: unknown): { email: string | null; name: string | null } {
  const person = Person.safeParse(user)
  if (!person.success) return { email: null, name: null }
  const names = [person.data.firstName, person.data.lastName].flatMap((part) => textOf(part) ?? [])
  return { email: textOf(person.data.email), name: names.join(' ') || null }
}

const Member = z.object({
  organizationId: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role: z.enum(['administrator', 'member']),
  /** Whether they may not use the portal there. */
  withoutPortal: z.boolean(),
})
type Member = z.infer<typeof Member>

const Roles = z.array(z.string()).catch([])

/** What is kept of a user; undefined for one who is in no organization. */
export function memberOf(user: Fields): Member | undefined {
  const organizationId = organizationIdOf(user)
  if (organizationId === null) return undefined
  const roles = [textOf(user.role), ...Roles.parse(user.roles)]
  return {
    organizationId,
    ...personOf(user),
    role: roles.includes('organization-admin') ? 'administrator' : 'member',
    withoutPortal: user.allowCustomerPortalAccess === false,
  }
}

/** Users and licenses name their organization by its id, or hold it. */
function organizationIdOf({ organizationId, organization }: Fields): string | null {
  const held = Fields.safeParse(organization)
  return textOf(organizationId) ?? (held.success ? held.data.id : null)
}

const OrganizationRead = z.object({ from: z.string(), fields: Fields })

const membersOf = onceFor((shared): ReadonlyMap<string, Member[]> => {
  const members = new Map<string, Member[]>()
  for (const data of shared.all('users').values()) {
    const member = Member.parse(data)
    const known = members.get(member.organizationId)
    if (known) known.push(member)
    else members.set(member.organizationId, [member])
  }
  return members
})

/** The organizations of an export, by their ids. */
export const organizationsOf = onceFor(
  (shared): Map<string, ForeignOrganization> =>
    new Map(
      [...shared.all('organizations').values()].map((data) => {
        const { from, fields } = OrganizationRead.parse(data)
        return [fields.id, organizationWith(from, fields, membersOf(shared).get(fields.id) ?? [])]
      }),
    ),
)

/** The organization that a license belongs to. One that the lists do not have is known by what the license holds of it. */
export function organizationOf(
  from: string,
  license: Fields,
  shared: Shared,
): ForeignOrganization | undefined {
  const id = organizationIdOf(license)
  if (id === null) return undefined
  const known = organizationsOf(shared).get(id)
  if (known) return known
  const held = Fields.safeParse(license.organization)
  const fields = held.success ? held.data : { id }
  return organizationWith(from, fields, membersOf(shared).get(id) ?? [])
}

function organizationWith(from: string, fields: Fields, members: readonly Member[]): ForeignOrganization {
  const withoutPortal = members.filter((member) => member.withoutPortal).length
  return {
    from,
    externalId: fields.id,
    name: textOf(fields.name),
    email: textOf(fields.email),
    people: members.map(({ email, name, role }) => ({ email, name, role })),
    metadata: metadataOf(fields),
    leftOut: [
      ...leftOutOf(fields),
      ...(withoutPortal === 0
        ? []
        : [
            `${withoutPortal} of its people may not use the portal there; here all people of an organization may.`,
          ]),
    ],
  }
}

const taken = new Set(['id', 'name', 'email', 'metadata', 'tags', 'notes', 'createdAt', 'updatedAt'])

/** Its limits, such as of users, and its other fields, such as its address. */
function leftOutOf(fields: Fields): string[] {
  const others = Object.entries(fields).filter(([name, value]) => !taken.has(name) && !isEmpty(value))
  const limits = others.filter(([name]) => name.startsWith('allowed'))
  const names = others.filter((other) => !limits.includes(other)).map(([name]) => name)
  return [
    ...limits.flatMap(([name, value]) =>
      wholeOf(value) === 0
        ? []
        : [`Its ${name} of ${textOf(value) ?? 'another form'} is left out: organizations have no limits.`],
    ),
    ...(names.length === 0 ? [] : [`Its fields are left out: ${names.join(', ').slice(0, 200)}.`]),
  ]
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0)

const Pairs = z.array(z.looseObject({ key: z.string(), value: z.coerce.string() })).catch([])
const Tags = z.array(z.string()).catch([])

/** The metadata, tags and notes of an object, as metadata. */
export function metadataOf({ metadata, tags, notes }: Fields): Record<string, string> {
  const pairs = Pairs.parse(metadata).map(({ key, value }) => [key, value] as const)
  const labels = Tags.parse(tags).join(', ')
  const note = textOf(notes)
  return {
    ...Object.fromEntries(pairs),
    ...(labels !== '' && { tags: labels }),
    ...(note !== null && { notes: note }),
  }
}
