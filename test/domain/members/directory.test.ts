/** A member follows a directory: their access ends and returns, and the last owner keeps theirs. */
import { describe, expect, test } from 'vitest'
import type { MemberEvent } from '../../../src/domain/members/events.ts'
import {
  absentMember,
  evolveMember,
  type MemberCommand,
  members,
} from '../../../src/domain/members/member.ts'
import { givenOn } from '../given.ts'

const given = givenOn(members)

const at = '2026-03-01T12:00:00.000Z'
const profile = 'sealed.1.profile'
const facts = {
  memberId: 'mem_1',
  tenantId: 'acme',
  role: 'owner',
  subjectId: 'sub_1',
  email: 'sealed.1.abc',
} as const
const added: MemberEvent = { type: 'MemberAdded', data: { ...facts, at } }
const provisioned: MemberEvent = { type: 'MemberProvisioned', data: { profile, at } }
const off = (reason: 'directory' | 'no_role'): MemberEvent => ({
  type: 'MemberDeactivated',
  data: { reason, at },
})
const on: MemberEvent = { type: 'MemberReactivated', data: { at } }
const role = (given: 'admin' | 'auditor'): MemberEvent => ({
  type: 'MemberRoleChanged',
  data: { role: given, at },
})

const follow = (wanted: Partial<Extract<MemberCommand, { type: 'FollowDirectory' }>>): MemberCommand => ({
  type: 'FollowDirectory',
  role: 'kept',
  access: 'granted',
  otherOwners: 1,
  at,
  ...wanted,
})

describe('a member of a directory', () => {
  const add = (access: 'granted' | 'directory' | 'no_role', roleless: boolean): MemberCommand => ({
    type: 'AddMember',
    ...facts,
    at,
    directory: { profile, access, roleless },
  })
  test.each([
    ['with a role', add('granted', false), []],
    ['without a role', add('no_role', true), [off('no_role')]],
    ['who is inactive', add('directory', false), [off('directory')]],
    ['who is inactive and without a role', add('directory', true), [off('no_role'), off('directory')]],
  ])('%s begins with one append', (_, command, more) =>
    given()
      .when(command)
      .expectEvents([added, provisioned, ...more]),
  )
})

describe('following', () => {
  test('what is so already changes nothing', () =>
    given(added, provisioned)
      .when(follow({ profile, role: 'owner' }))
      .expectEvents([]))
  test('a new address, role and access are one append', () =>
    given(added, provisioned)
      .when(
        follow({
          address: { subjectId: 'sub_2', email: 'sealed.1.new' },
          profile: 'sealed.1.other',
          role: 'admin',
          access: 'directory',
        }),
      )
      .expectEvents([
        { type: 'MemberAddressChanged', data: { subjectId: 'sub_2', email: 'sealed.1.new', at } },
        { type: 'MemberProvisioned', data: { profile: 'sealed.1.other', at } },
        role('admin'),
        off('directory'),
      ]))
  test('access ends, changes its reason, and returns', () => {
    given(added)
      .when(follow({ access: 'no_role' }))
      .expectEvents([off('no_role')])
    given(added, off('no_role'))
      .when(follow({ access: 'directory' }))
      .expectEvents([off('directory')])
    given(added, off('directory'))
      .when(follow({ access: 'directory' }))
      .expectEvents([])
    given(added, off('directory')).when(follow({})).expectEvents([on])
  })
  test('the last owner is not deactivated, and keeps role and access', () => {
    given(added)
      .when(follow({ access: 'directory', otherOwners: 0 }))
      .expectRefusal('last_owner')
    given(added)
      .when(follow({ access: 'no_role', role: 'admin', otherOwners: 0 }))
      .expectEvents([])
  })
  test('an owner without access is not the last one', () => {
    given(added, off('directory'))
      .when(follow({ access: 'directory', role: 'auditor', otherOwners: 0 }))
      .expectEvents([role('auditor')])
    given(added, off('directory'))
      .when({ type: 'RemoveMember', otherOwners: 0, at })
      .expectEvents([{ type: 'MemberRemoved', data: { at } }])
  })
  test('a removed member and an absent one are not found, and a deactivated one gets no link', () => {
    given().when(follow({})).expectRefusal('member_not_found')
    given(added, { type: 'MemberRemoved', data: { at } }).when(follow({})).expectRefusal('member_not_found')
    given(added, off('directory'))
      .when({ type: 'IssueLink', purpose: 'recovery', expiresAt: at, at })
      .expectRefusal('member_not_found')
  })
})

test('whether a role was ever given is known until one is given', () => {
  const after = (...events: MemberEvent[]) => events.reduce(evolveMember, absentMember)
  expect(after(added, off('no_role'), off('directory'))).toMatchObject({
    roleless: true,
    reason: 'directory',
  })
  expect(after(added, off('no_role'), role('admin'))).not.toHaveProperty('roleless')
  expect(after(added, off('no_role'), on)).toStrictEqual({ ...facts, status: 'present', createdAt: at })
})
