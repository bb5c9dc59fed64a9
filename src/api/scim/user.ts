import { z } from 'zod'
import type { DirectoryUser, Wanted } from '../../commands/members/directory.ts'
import type { Scim } from '../../domain/scim/scim.ts'
import { asciiEmail } from '../../domain/values.ts'
import { attributes, emails, flag, lowered, mainAddress, valueBy, wrong } from './read.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'

/** A user while it is read and patched; its address may still be missing. */
export type Draft = Omit<Wanted, 'email'> & { email: string | undefined }

const { userName, externalId, displayName, givenName, familyName, formatted } = attributes

/** The attributes that are kept, with their names in lowercase. Others are ignored. */
const UserBody = z.object({
  username: userName,
  externalid: externalId,
  displayname: displayName,
  name: z
    .object({ givenname: givenName, familyname: familyName, formatted })
    .nullish()
    .transform((name) => name ?? { givenname: null, familyname: null, formatted: null }),
  emails: emails.nullish(),
  active: flag.nullish(),
})

/**
 * Reads the body of POST and PUT.
 * @param active what counts when the body does not say it
 * @throws Problem 400
 */
export function readUser(body: unknown, active: boolean): Wanted {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrong('invalidSyntax', 'send the user as a JSON object')
  const read = valueBy(UserBody, lowered(body), 'the user')
  return finished({
    userName: read.username,
    externalId: read.externalid,
    displayName: read.displayname,
    givenName: read.name.givenname,
    familyName: read.name.familyname,
    formatted: read.name.formatted,
    email: mainAddress(read.emails ?? []),
    active: read.active ?? active,
  })
}

/** Without an address of its own, the user name is the address. @throws Problem 400 when there is none */
export function finished({ email, ...draft }: Draft): Wanted {
  const address = asciiEmail(email ?? draft.userName)
  if (address !== undefined) return { ...draft, email: address }
  throw wrong(
    'invalidValue',
    email === undefined
      ? 'userName is no email address, so emails is required: send the address that the person signs in with'
      : 'emails.value must be an email address',
  )
}

/** A user as the interface shows it. */
export function userView(user: DirectoryUser, { groups }: Pick<Scim, 'groups'>, base: string) {
  const { member, externalId: given, displayName: shown } = user
  const { memberId } = member
  const { givenName: first, familyName: last, formatted: full } = user
  const name = {
    ...(full !== null && { formatted: full }),
    ...(last !== null && { familyName: last }),
    ...(first !== null && { givenName: first }),
  }
  const own = groups.filter(({ memberIds }) => memberIds.includes(memberId))
  return {
    schemas: [userSchema],
    id: memberId,
    ...(given !== null && { externalId: given }),
    userName: user.userName,
    ...(Object.keys(name).length > 0 && { name }),
    ...(shown !== null && { displayName: shown }),
    emails: [{ value: user.email, type: 'work', primary: true }],
    active: user.active,
    groups: own.map(({ groupId, displayName: display }) => ({
      value: groupId,
      display,
      $ref: `${base}/Groups/${groupId}`,
      type: 'direct',
    })),
    meta: {
      resourceType: 'User',
      created: member.createdAt,
      lastModified: user.updatedAt,
      location: `${base}/Users/${memberId}`,
    },
  }
}
