import { z } from 'zod'
import { GroupName } from '../../domain/scim/events.ts'
import { type GroupDetails, maxGroupMembers, type ScimGroup } from '../../domain/scim/scim.ts'
import { predicateOf } from './filter.ts'
import { type Change, readPatch } from './patch.ts'
import { attributes, lowered, valueBy, wrong } from './read.ts'

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

const memberId = z.string().min(1).max(64)
const oneMember = z.union([memberId, z.object({ value: memberId }).transform(({ value }) => value)])

/** Members as ids or as objects with an id, one or several. */
const memberList = z.union([
  z.array(oneMember).max(maxGroupMembers),
  oneMember.transform((id) => [id]),
  z.null().transform((): string[] => []),
])

const GroupBody = z.object({
  displayname: GroupName,
  externalid: attributes.externalId,
  members: memberList.optional().transform((ids) => ids ?? []),
})

/** Reads the body of POST and PUT. @throws Problem 400 */
export function readGroup(body: unknown): GroupDetails {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw wrong('invalidSyntax', 'send the group as a JSON object')
  const { displayname, externalid, members } = valueBy(GroupBody, lowered(body), 'the group')
  return { displayName: displayname, externalId: externalid, memberIds: members }
}

/** Applies the operations of a PATCH to a group, all of them or none. @throws Problem 400 */
export function patchGroup(group: ScimGroup, body: unknown): GroupDetails {
  const { displayName, externalId, memberIds } = group
  const draft = { displayName, externalId, memberIds }
  for (const change of readPatch(body, groupSchema)) applyTo(draft, change, group.groupId)
  return draft
}

type Draft = { -readonly [K in keyof GroupDetails]: GroupDetails[K] }

function applyTo(draft: Draft, change: Change, id: string): void {
  const { op, attribute, value } = change
  switch (attribute) {
    case 'displayname':
      if (op === 'remove') throw wrong('mutability', 'displayName is required and cannot be removed')
      draft.displayName = valueBy(GroupName, value, 'displayName')
      return
    case 'externalid':
      draft.externalId = valueBy(attributes.externalId, op === 'remove' ? null : value, 'externalId')
      return
    case 'members':
      draft.memberIds = membersAfter(draft.memberIds, change)
      return
    case 'id':
      if (value !== id) throw wrong('mutability', 'id is given by keyledger and cannot be changed')
      return
    case 'meta':
      throw wrong('mutability', 'meta is read-only; leave it out')
    case 'schemas':
      return
    default:
      throw wrong('invalidPath', `a group has no attribute ${attribute}`)
  }
}

/** To remove without a condition and without a value removes all members; Microsoft Entra sends those to remove as the value. */
function membersAfter(present: readonly string[], { op, filter, part, value }: Change): readonly string[] {
  if (filter !== undefined || part !== undefined) {
    if (op !== 'remove' || filter === undefined)
      throw wrong('invalidPath', 'with a condition, members can only be removed: members[value eq "…"]')
    const fits = predicateOf<string>(filter, { value: { values: (id) => [id], exact: true } }, groupSchema)
    return present.filter((id) => !fits(id))
  }
  if (op === 'remove' && value == null) return []
  const named = valueBy(memberList, value ?? null, 'members')
  if (op === 'replace') return named
  if (op === 'add') return [...present, ...named]
  const gone = new Set(named)
  return present.filter((id) => !gone.has(id))
}

/** A group as the interface shows it. @param users the ids of the tenant's users, with their names */
export function groupView(group: ScimGroup, users: ReadonlyMap<string, string>, base: string) {
  const { groupId, externalId, displayName, memberIds, createdAt, updatedAt } = group
  return {
    schemas: [groupSchema],
    id: groupId,
    ...(externalId !== null && { externalId }),
    displayName,
    // Those who were removed from the workspace are users no longer.
    members: memberIds.flatMap((id) => {
      const display = users.get(id)
      return display === undefined ? [] : [{ value: id, display, $ref: `${base}/Users/${id}`, type: 'User' }]
    }),
    meta: {
      resourceType: 'Group',
      created: createdAt,
      lastModified: updatedAt,
      location: `${base}/Groups/${groupId}`,
    },
  }
}
