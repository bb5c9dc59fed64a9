/** A member is added once, changes roles, and is removed permanently; a tenant keeps at least one owner. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MemberEvent } from '../../../src/domain/members/events.ts'
import {
  absentMember,
  decideMember,
  evolveMember,
  type MemberCommand,
} from '../../../src/domain/members/member.ts'
import { may, type Permission, Role, rightsOf } from '../../../src/domain/members/roles.ts'
import { combinableScopes, Scope } from '../../../src/domain/tokens/events.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentMember, decide: decideMember, evolve: evolveMember })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'
const facts = {
  memberId: 'mem_1',
  tenantId: 'acme',
  role: 'owner',
  subjectId: 'sub_1',
  email: 'sealed.1.abc',
} as const
const add: MemberCommand = { type: 'AddMember', ...facts, at }
const added: MemberEvent = { type: 'MemberAdded', data: { ...facts, at } }
const removed: MemberEvent = { type: 'MemberRemoved', data: { at: later } }
const madeSupport: MemberEvent = { type: 'MemberRoleChanged', data: { role: 'support', at: later } }
const link = { purpose: 'invitation', expiresAt: later, at } as const
const issued: MemberEvent = { type: 'MemberLinkIssued', data: link }

describe('adding', () => {
  test('a member begins with a role and a sealed address', () => given().when(add).expectEvents([added]))
  test('a member who is there already is refused', () =>
    given(added).when(add).expectRefusal('member_exists'))
  test('a member who was removed stays so', () =>
    given(added, removed).when(add).expectRefusal('member_exists'))
})

describe('changing the role', () => {
  const change = (role: Role, otherOwners: number): MemberCommand => ({
    type: 'ChangeRole',
    role,
    otherOwners,
    at: later,
  })
  test('it is recorded', () => given(added).when(change('support', 1)).expectEvents([madeSupport]))
  test('to the same role it changes nothing', () => given(added).when(change('owner', 0)).expectEvents([]))
  test('the last owner stays owner', () =>
    given(added).when(change('support', 0)).expectRefusal('last_owner'))
  test('a member who is not an owner is not the last owner', () =>
    given(added, madeSupport)
      .when(change('auditor', 0))
      .expectEvents([{ type: 'MemberRoleChanged', data: { role: 'auditor', at: later } }]))
  test('an absent and a removed member have no role', () => {
    given().when(change('support', 1)).expectRefusal('member_not_found')
    given(added, removed).when(change('support', 1)).expectRefusal('member_not_found')
  })
})

describe('removing', () => {
  const remove = (otherOwners: number): MemberCommand => ({ type: 'RemoveMember', otherOwners, at: later })
  test('it is recorded', () => given(added).when(remove(1)).expectEvents([removed]))
  test('a second time changes nothing', () => given(added, removed).when(remove(0)).expectEvents([]))
  test('the last owner stays', () => given(added).when(remove(0)).expectRefusal('last_owner'))
  test('an absent member cannot be removed', () => given().when(remove(1)).expectRefusal('member_not_found'))
})

describe('a one-time link', () => {
  const issue: MemberCommand = { type: 'IssueLink', ...link }
  test('is recorded without what it holds', () => given(added).when(issue).expectEvents([issued]))
  test('is issued again for each request', () => given(added, issued).when(issue).expectEvents([issued]))
  test('is issued only for members', () => {
    given().when(issue).expectRefusal('member_not_found')
    given(added, removed).when(issue).expectRefusal('member_not_found')
  })
})

describe('the state', () => {
  test('follows the events', () => {
    const state = (...events: MemberEvent[]) => events.reduce(evolveMember, absentMember)
    const present = { ...facts, status: 'present', createdAt: at }
    expect(state(added, issued)).toStrictEqual(present)
    expect(state(added, madeSupport)).toStrictEqual({ ...present, role: 'support' })
    expect(state(added, removed)).toStrictEqual({ ...present, status: 'removed', removedAt: later })
  })

  test('accepts any sequence of events without an error, and is absent until an addition', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom(added, issued, madeSupport, removed)), (history) => {
        expect(history.reduce(evolveMember, absentMember).status === 'absent').toBe(!history.includes(added))
      }),
    ))
})

test('the matrix of roles is as it was decided', () => {
  const permissions: Permission[] = [
    'ask_for_changes',
    'decide_confirmations',
    'change_licenses',
    'manage_products',
    'manage_connections',
    'manage_tokens',
    'manage_members',
    'manage_settings',
  ]
  const matrix = Object.fromEntries(
    Role.options.map((role) => [role, permissions.filter((permission) => may(role, permission))]),
  )
  expect(matrix).toStrictEqual({
    owner: permissions,
    admin: permissions.filter((permission) => permission !== 'manage_members'),
    developer: ['manage_connections', 'manage_tokens'],
    support: ['ask_for_changes', 'change_licenses'],
    approver: ['ask_for_changes', 'decide_confirmations'],
    auditor: [],
  })
  const reading = ['products:read', 'licenses:read', 'integrations:read', 'customers:read', 'usage:read']
  expect(rightsOf.owner.grantable).toStrictEqual(Scope.options)
  expect(rightsOf.admin.grantable).toStrictEqual(combinableScopes)
  expect(rightsOf.developer.grantable).toStrictEqual(combinableScopes.filter((scope) => scope !== 'danger'))
  for (const role of ['approver', 'support', 'auditor'] as const)
    expect(rightsOf[role].grantable).toStrictEqual(reading)
})
