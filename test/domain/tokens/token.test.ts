/** A token is created once, with scopes that never change, and its revocation is final. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Scope, TokenEvent } from '../../../src/domain/tokens/events.ts'
import { absentToken, decideToken, evolveToken, type TokenCommand } from '../../../src/domain/tokens/token.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentToken, decide: decideToken, evolve: evolveToken })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'

const scopes: Scope[] = ['danger', 'licenses:read']
const facts = {
  tokenId: 'tok_1',
  tenantId: 'acme',
  name: 'CI',
  tokenHash: 'a'.repeat(64),
  expiresAt: null,
}
const create = { type: 'CreateToken', ...facts, scopes, at } as const satisfies TokenCommand
const revoke: TokenCommand = { type: 'RevokeToken', at: later }

const created: TokenEvent = { type: 'TokenCreated', data: { ...facts, scopes, at } }
const revoked: TokenEvent = { type: 'TokenRevoked', data: { at } }

describe('creating', () => {
  test('a token begins with its hash and scopes', () => given().when(create).expectEvents([created]))

  test('its scopes are recorded as a set: sorted, without repeats', () =>
    given()
      .when({ ...create, scopes: ['licenses:read', 'danger', 'licenses:read'] })
      .expectEvents([created]))

  test('an expiry one millisecond ahead is accepted', () => {
    const expiresAt = '2026-03-01T12:00:00.001Z'
    given()
      .when({ ...create, expiresAt })
      .expectEvents([{ type: 'TokenCreated', data: { ...facts, scopes, expiresAt, at } }])
  })

  test.each([at, '2026-02-28T12:00:00.000Z'])(
    'a token that has expired when it is made (%s) is refused',
    (expiresAt) =>
      given()
        .when({ ...create, expiresAt })
        .expectRefusal('expiry_in_the_past'),
  )

  test('an id that a live token has is refused', () =>
    given(created).when(create).expectRefusal('token_exists'))
  test('an id that a revoked token had is refused', () =>
    given(created, revoked).when(create).expectRefusal('token_exists'))
})

describe('revoking', () => {
  test('a live token is revoked', () =>
    given(created)
      .when(revoke)
      .expectEvents([{ type: 'TokenRevoked', data: { at: later } }]))
  test('a revoked token stays as it is', () => given(created, revoked).when(revoke).expectEvents([]))
  test('an absent token is refused', () => given().when(revoke).expectRefusal('token_not_found'))
})

describe('the state', () => {
  const state = (...events: TokenEvent[]) => events.reduce(evolveToken, absentToken)

  test('follows the events', () => {
    const live = { ...facts, scopes, status: 'live', createdAt: at, revokedAt: null }
    expect(state(created)).toStrictEqual(live)
    expect(state(created, revoked)).toStrictEqual({ ...live, status: 'revoked', revokedAt: at })
  })

  test('accepts any sequence of events without an error, and is absent until a creation', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom(created, revoked)), (history) => {
        expect(state(...history).status === 'absent').toBe(!history.includes(created))
      }),
    ))
})
