/** A member is added once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MemberEvent } from '../../src/domain/member/events.ts'
import {
  absentMember,
  decideMember,
  evolveMember,
  type MemberCommand,
} from '../../src/domain/member/member.ts'
import { givenOn } from './given.ts'

const given = givenOn({ initial: absentMember, decide: decideMember, evolve: evolveMember })

const at = '2026-03-01T12:00:00.000Z'
const facts = {
  memberId: 'mem_1',
  tenantId: 'acme',
  role: 'owner',
  subjectId: 'sub_1',
  email: 'sealed.1.abc',
} as const
const add: MemberCommand = { type: 'AddMember', ...facts, at }
const added: MemberEvent = { type: 'MemberAdded', data: { ...facts, at } }

test('a member begins with a role and a sealed address', () => given().when(add).expectEvents([added]))

test('a member who is there already is refused', () => given(added).when(add).expectRefusal('member_exists'))

test('the state follows the events, whatever came before', () =>
  fc.assert(
    fc.property(fc.array(fc.constant(added), { minLength: 1 }), (history) => {
      expect(history.reduce(evolveMember, absentMember)).toStrictEqual({
        ...facts,
        status: 'present',
        createdAt: at,
      })
    }),
  ))
