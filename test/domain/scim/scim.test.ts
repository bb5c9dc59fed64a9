/** A directory has no two groups of one name, and the first mapped group that a member is in gives their role. */
import { describe, expect, test } from 'vitest'
import type { ScimEvent } from '../../../src/domain/scim/events.ts'
import { maxGroupMembers, maxGroups, noScim, roleByGroups, scims } from '../../../src/domain/scim/scim.ts'
import { givenOn } from '../given.ts'
import { add, admins, at, set, settings, tenantId } from './samples.ts'

const given = givenOn(scims)

const added: ScimEvent = {
  type: 'ScimGroupAdded',
  data: { tenantId, groupId: 'grp_1', ...admins, memberIds: ['mem_1'], at },
}
const removed: ScimEvent = { type: 'ScimGroupRemoved', data: { groupId: 'grp_1', at } }
const wasSet: ScimEvent = {
  type: 'ScimSettingsChanged',
  data: { tenantId, operationId: 'cnf_1', ...settings, at },
}
const change = (group: object) =>
  ({ type: 'ChangeGroup', groupId: 'grp_1', group: { ...admins, ...group }, at }) as const

describe('groups', () => {
  test('a group is added with each member once', () => {
    const group = { ...admins, memberIds: ['mem_1', 'mem_1'] }
    given()
      .when({ ...add, group })
      .expectEvents([added])
  })
  test('a name is taken in any case, and free again after the removal', () => {
    const again = { ...add, groupId: 'grp_2', group: { ...admins, displayName: 'ADMINS' } }
    given(added).when(again).expectRefusal('scim_group_exists')
    given(added, removed)
      .when(again)
      .expectEvents([
        {
          type: 'ScimGroupAdded',
          data: { tenantId, groupId: 'grp_2', ...again.group, memberIds: ['mem_1'], at },
        },
      ])
  })
  test('a change records what differs, and nothing when nothing does', () => {
    given(added).when(change({})).expectEvents([])
    given(added)
      .when(change({ displayName: 'Owners', memberIds: ['mem_2'] }))
      .expectEvents([
        { type: 'ScimGroupChanged', data: { groupId: 'grp_1', displayName: 'Owners', externalId: null, at } },
        {
          type: 'ScimGroupMembersChanged',
          data: { groupId: 'grp_1', added: ['mem_2'], removed: ['mem_1'], at },
        },
      ])
  })
  test('an absent and a removed group are not found', () => {
    given().when(change({})).expectRefusal('scim_group_not_found')
    given(added, removed)
      .when({ type: 'RemoveGroup', groupId: 'grp_1', at })
      .expectRefusal('scim_group_not_found')
  })
  test('there is a limit to groups and to members', () => {
    const many = Array.from(
      { length: maxGroups },
      (_, n): ScimEvent => ({
        type: 'ScimGroupAdded',
        data: {
          tenantId,
          groupId: `grp_${n + 10}`,
          displayName: `${n}`,
          externalId: null,
          memberIds: [],
          at,
        },
      }),
    )
    given(...many)
      .when(add)
      .expectRefusal('scim_group_limit')
    const memberIds = Array.from({ length: maxGroupMembers + 1 }, (_, n) => `mem_${n}`)
    given(added).when(change({ memberIds })).expectRefusal('scim_members_limit')
  })
})

describe('settings', () => {
  test('a change is recorded once', () => {
    given().when(set).expectEvents([wasSet])
    given(wasSet).when(set).expectEvents([])
    given(wasSet)
      .when({ ...set, operationId: 'cnf_2' })
      .expectEvents([])
  })
})

describe('the role', () => {
  const group = (displayName: string, ...memberIds: string[]) => ({
    groupId: displayName,
    displayName,
    externalId: null,
    memberIds,
    createdAt: at,
    updatedAt: at,
  })
  const roles = [
    { group: 'Admins', role: 'admin' as const },
    { group: 'Staff', role: 'support' as const },
  ]
  const groups = [group('Staff', 'mem_1', 'mem_2'), group('Admins', 'mem_1'), group('admins', 'mem_3')]
  const role = (memberId: string, defaultRole: 'auditor' | null, hadRole = true) =>
    roleByGroups({ settings: { roles, defaultRole }, groups }, memberId, hadRole)
  test.each([
    ['is in two mapped groups', 'mem_1', null, 'admin'],
    ['is in one', 'mem_2', null, 'support'],
    ['is in a group whose name has another case', 'mem_3', null, null],
    ['is in none, with a default role', 'mem_4', 'auditor', 'auditor'],
    ['is in none, without', 'mem_4', null, null],
  ] as const)('of a member who %s', (_, memberId, defaultRole, expected) =>
    expect(role(memberId, defaultRole)).toBe(expected),
  )
  test('without a mapping it is kept, where there was one', () => {
    const unmapped = { settings: { roles: [], defaultRole: 'auditor' as const }, groups }
    expect(roleByGroups(unmapped, 'mem_1', true)).toBe('kept')
    expect(roleByGroups(unmapped, 'mem_1', false)).toBe('auditor')
    expect(roleByGroups(noScim, undefined, false)).toBeNull()
  })
})
