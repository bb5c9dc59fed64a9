/**
 * The authorization of an API client is decided once, and never grants more than was requested and the
 * member's role allows.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LoginEvent } from '../../../src/domain/logins/events.ts'
import {
  decideLogin,
  evolveLogin,
  grantableOf,
  type LoginCommand,
  pendingLogin,
} from '../../../src/domain/logins/login.ts'
import { Role, rightsOf } from '../../../src/domain/members/roles.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { mayStandTogether, Scope } from '../../../src/domain/tokens/events.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: pendingLogin, decide: decideLogin, evolve: evolveLogin })

const at = '2026-03-01T12:00:00.000Z'
const asked = {
  tenantId: 'acme',
  memberId: 'mem_1',
  clientName: 'keyledger on build-1',
  scopesAsked: ['danger', 'licenses:read', 'licenses:write'],
  at,
} satisfies Partial<LoginCommand>
const grant = {
  tokenId: 'tok_1',
  scopes: ['licenses:read'],
  tokenExpiresAt: null,
} satisfies Partial<LoginCommand>
const approve: LoginCommand = { type: 'ApproveLogin', ...asked, ...grant, role: 'owner' }
const deny: LoginCommand = { type: 'DenyLogin', ...asked }
const approved: LoginEvent = { type: 'LoginApproved', data: { ...asked, ...grant } }
const denied: LoginEvent = { type: 'LoginDenied', data: asked }

describe('approving', () => {
  test('records the requested and the granted scopes', () => given().when(approve).expectEvents([approved]))

  test('scopes are recorded as sets: sorted, without repeats', () =>
    given()
      .when({
        ...approve,
        scopesAsked: ['licenses:write', 'danger', 'licenses:read', 'danger'],
        scopes: ['licenses:read', 'licenses:read'],
      })
      .expectEvents([approved]))

  test('a scope that was not requested is not granted, and neither is an empty set', () => {
    given()
      .when({ ...approve, scopes: ['products:read'] })
      .expectRefusal('scope_not_grantable')
    given()
      .when({ ...approve, scopes: [] })
      .expectRefusal('scope_not_grantable')
  })

  test('a member who only reads grants no more than that', () => {
    given()
      .when({ ...approve, role: 'approver', scopes: ['licenses:read', 'licenses:write'] })
      .expectRefusal('scope_not_grantable')
    given()
      .when({ ...approve, role: 'approver', scopes: ['danger'] })
      .expectRefusal('scope_not_grantable')
    given()
      .when({ ...approve, role: 'support' })
      .expectEvents([approved])
  })

  test('a token that has expired when it is granted is refused', () =>
    given()
      .when({ ...approve, tokenExpiresAt: at })
      .expectRefusal('expiry_in_the_past'))

  test('the granted scopes are among the requested ones and those of the role, and scim is alone', () =>
    fc.assert(
      fc.property(
        fc.subarray([...Scope.options]),
        fc.subarray([...Scope.options]),
        fc.constantFrom(...Role.options),
        (scopesAsked, scopes, role) => {
          const grantable = grantableOf(scopesAsked, role)
          const allowed = scopes.length > 0 && scopes.every((scope) => grantable.includes(scope))
          const decide = () => decideLogin(pendingLogin, { ...approve, scopesAsked, scopes, role })
          if (!allowed) expect(decide).toThrow(new Refusal('scope_not_grantable'))
          else if (mayStandTogether(scopes)) expect(decide()).toHaveLength(1)
          else expect(decide).toThrow(new Refusal('scim_scope_alone'))
          for (const scope of grantable) {
            expect(scopesAsked).toContain(scope)
            expect(rightsOf[role].grantable).toContain(scope)
          }
        },
      ),
    ))
})

describe('denying', () => {
  test('is recorded', () => given().when(deny).expectEvents([denied]))
  test('a second time changes nothing', () => given(denied).when(deny).expectEvents([]))
})

test('a decision cannot be changed', () => {
  given(approved).when(approve).expectRefusal('login_settled')
  given(approved).when(deny).expectRefusal('login_settled')
  given(denied).when(approve).expectRefusal('login_settled')
  given(denied)
    .when({ ...deny, memberId: 'mem_2' })
    .expectRefusal('login_settled')
})

test('the state follows the events', () => {
  const { at: decidedAt, ...rest } = asked
  expect(evolveLogin(pendingLogin, approved)).toStrictEqual({
    ...rest,
    ...grant,
    status: 'approved',
    decidedAt,
  })
  expect(evolveLogin(pendingLogin, denied)).toStrictEqual({ ...rest, status: 'denied', decidedAt })
})
