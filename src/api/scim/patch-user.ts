import type { DirectoryUser, Wanted } from '../../commands/members/directory.ts'
import { predicateOf } from './filter.ts'
import { type Change, readPatch } from './patch.ts'
import { attributes, emails, flag, mainAddress, valueBy, wrong } from './read.ts'
import { type Draft, finished, userSchema } from './user.ts'

/** Attributes of RFC 7643 that directories send and keyledger does not keep. */
const unkept: ReadonlySet<string> = new Set([
  'schemas',
  'nickname',
  'profileurl',
  'title',
  'usertype',
  'preferredlanguage',
  'locale',
  'timezone',
  'password',
  'phonenumbers',
  'ims',
  'photos',
  'addresses',
  'entitlements',
  'roles',
  'x509certificates',
])

const readOnly: ReadonlySet<string> = new Set(['meta', 'groups'])

/** Applies the operations of a PATCH to a user, all of them or none. @throws Problem 400 */
export function patchUser(user: DirectoryUser, body: unknown): Wanted {
  const { member, updatedAt: _, ...wanted } = user
  // The address follows the user name while it is the same.
  const isName = wanted.email.toLowerCase() === wanted.userName.toLowerCase()
  const draft: Draft = { ...wanted, email: isName ? undefined : wanted.email }
  for (const change of readPatch(body, userSchema)) applyTo(draft, change, member.memberId)
  return finished(draft)
}

function applyTo(draft: Draft, change: Change, id: string): void {
  const { op, attribute, value } = change
  const given = op === 'remove' ? null : value
  switch (attribute) {
    case 'active':
      if (op === 'remove') throw wrong('mutability', 'active cannot be removed; set it to true or false')
      draft.active = valueBy(flag, given, 'active')
      return
    case 'username':
      if (op === 'remove') throw wrong('mutability', 'userName is required and cannot be removed')
      draft.userName = valueBy(attributes.userName, given, 'userName')
      return
    case 'externalid':
      draft.externalId = valueBy(attributes.externalId, given, 'externalId')
      return
    case 'displayname':
      draft.displayName = valueBy(attributes.displayName, given, 'displayName')
      return
    case 'name':
      applyName(draft, change.part, given)
      return
    case 'emails':
      applyEmails(draft, change, given)
      return
    case 'id':
      if (given !== id) throw wrong('mutability', 'id is given by keyledger and cannot be changed')
      return
    default:
      if (readOnly.has(attribute)) throw wrong('mutability', `${attribute} is read-only; leave it out`)
      if (!unkept.has(attribute)) throw wrong('invalidPath', `a user has no attribute ${attribute}`)
  }
}

const parts = { givenname: 'givenName', familyname: 'familyName', formatted: 'formatted' } as const

const isPart = (name: string): name is keyof typeof parts => Object.hasOwn(parts, name)

function applyName(draft: Draft, part: string | undefined, given: unknown): void {
  if (part !== undefined) {
    if (isPart(part)) draft[parts[part]] = valueBy(attributes[parts[part]], given, `name.${parts[part]}`)
    return
  }
  const names = given ?? { givenname: null, familyname: null, formatted: null }
  if (typeof names !== 'object' || Array.isArray(names))
    throw wrong('invalidValue', 'name must be an object, such as {"givenName": "Ada"}')
  for (const [name, value] of Object.entries(names)) applyName(draft, name, value)
}

/** The one address that is kept: it is that of work, and the primary one. */
const kept = {
  type: { values: () => ['work'], exact: false },
  primary: { values: () => [true], exact: true },
  value: { values: ({ email, userName }: Draft) => [email ?? userName], exact: false },
}

function applyEmails(draft: Draft, { filter, part }: Change, given: unknown): void {
  // An address of another type is not kept.
  if (filter && !predicateOf(filter, kept, userSchema)(draft)) return
  if (part !== undefined && part !== 'value') return
  const read = given === null ? [] : valueBy(emails, given, 'emails')
  const address = mainAddress(read)
  if (address === undefined && read.length > 0) return
  draft.email = address
}
