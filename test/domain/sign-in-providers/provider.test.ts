/**
 * A workspace has at most ten providers for members and a hundred for customers, each with an id of its own, and for the same people
 * with an issuer of its own; it gives only roles that these people can have. Claims give roles by the first value that fits; an address
 * counts only when it is verified and of a trusted domain.
 */
import { describe, expect, test } from 'vitest'
import { Role } from '../../../src/domain/members/roles.ts'
import { OrganizationRole } from '../../../src/domain/organizations/events.ts'
import { mappingTo, roleBy, vouchedEmail } from '../../../src/domain/sign-in-providers/claims.ts'
import type { SignInProviderEvent } from '../../../src/domain/sign-in-providers/events.ts'
import { maxProviders, signInProviders } from '../../../src/domain/sign-in-providers/provider.ts'
import { givenOn } from '../given.ts'
import { add, at, issuer, remove, rename, settings } from './samples.ts'

const given = givenOn(signInProviders)

const data = { tenantId: 'acme', operationId: 'req_1', providerId: 'entra', issuer, ...settings, at }
const added: SignInProviderEvent = { type: 'SignInProviderAdded', data }
const removed: SignInProviderEvent = {
  type: 'SignInProviderRemoved',
  data: { operationId: 'req_3', providerId: 'entra', at },
}

describe('a provider', () => {
  test('is added once', () => given().when(add).expectEvents([added]))
  test('has an id of its own', () =>
    given(added)
      .when({ ...add, operationId: 'req_9', issuer: 'https://other.example' })
      .expectRefusal('sign_in_provider_exists'))
  test('has an issuer of its own', () =>
    given(added)
      .when({ ...add, operationId: 'req_9', providerId: 'okta' })
      .expectRefusal('sign_in_issuer_taken'))
  test('may be added again after it was removed', () =>
    given(added, removed)
      .when({ ...add, operationId: 'req_9' })
      .expectEvents([{ type: 'SignInProviderAdded', data: { ...data, operationId: 'req_9' } }]))
  test('is one of ten at the most', () => {
    const many = Array.from(
      { length: 10 },
      (_, n): SignInProviderEvent => ({
        type: 'SignInProviderAdded',
        data: { ...data, operationId: `req_1${n}`, providerId: `p${n}`, issuer: `https://p${n}.example` },
      }),
    )
    given(...many)
      .when(add)
      .expectRefusal('sign_in_provider_limit')
  })
  test('keeps what a change does not name', () =>
    given(added)
      .when(rename)
      .expectEvents([
        {
          type: 'SignInProviderChanged',
          data: { operationId: 'req_2', providerId: 'entra', ...settings, name: 'Acme Entra', at },
        },
      ]))
  test('gets another secret without any other change', () =>
    given(added)
      .when({ ...rename, change: {}, newSecret: true })
      .expectEvents([
        { type: 'SignInProviderSecretReplaced', data: { operationId: 'req_2', providerId: 'entra', at } },
      ]))
  test('is not changed when it is gone', () => {
    given(added, removed).when(rename).expectRefusal('sign_in_provider_not_found')
    given().when(remove).expectRefusal('sign_in_provider_not_found')
  })
})

describe('a provider for customers', () => {
  const customerId = 'cus_1'
  const noRoles = { ...settings, roleClaim: null, roles: [], defaultRole: null }
  const mapped = { ...settings, roles: [{ value: 'it', role: 'administrator' as const }] }
  const forAll = { ...add, audience: { customerId: null }, settings: noRoles }
  const forOne = { ...add, audience: { customerId }, settings: mapped }
  const event = (
    audience: { customerId: string | null } | undefined,
    more: Partial<typeof data> = {},
  ): SignInProviderEvent => ({
    type: 'SignInProviderAdded',
    data: { ...data, ...noRoles, ...(audience && { audience }), ...more },
  })

  test('is recorded with whom it is for', () => {
    given()
      .when(forAll)
      .expectEvents([event({ customerId: null })])
    given()
      .when(forOne)
      .expectEvents([event({ customerId }, mapped)])
  })
  test('may have the issuer that other people have, and not that of the same people', () => {
    const next = { operationId: 'req_9', providerId: 'next' }
    const events = (audience: { customerId: string | null }) => [
      event(audience, { ...next, ...(audience.customerId === null ? {} : mapped) }),
    ]
    given(added)
      .when({ ...forAll, ...next })
      .expectEvents(events({ customerId: null }))
    given(event({ customerId: null }))
      .when({ ...forOne, ...next })
      .expectEvents(events({ customerId }))
    given(event({ customerId: 'cus_2' }))
      .when({ ...forOne, ...next })
      .expectEvents(events({ customerId }))
    for (const audience of [{ customerId: null }, { customerId }])
      given(event(audience))
        .when({ ...(audience.customerId === null ? forAll : forOne), ...next })
        .expectRefusal('sign_in_issuer_taken')
  })
  test('has an id that no other provider has, whomever that is for', () =>
    given(added)
      .when({ ...forAll, operationId: 'req_9' })
      .expectRefusal('sign_in_provider_exists'))
  test('counts towards a limit of its own', () => {
    const many = (count: number, audience: { customerId: string | null } | undefined) =>
      Array.from({ length: count }, (_, n) =>
        event(audience, { operationId: `req_1${n}`, providerId: `p${n}`, issuer: `https://p${n}.example` }),
      )
    given(...many(maxProviders.members, undefined))
      .when(forAll)
      .expectEvents([event({ customerId: null })])
    given(...many(maxProviders.customers, { customerId: null }))
      .when(forOne)
      .expectRefusal('sign_in_provider_limit')
  })
  test.each([
    [undefined, { ...noRoles, defaultRole: 'member' as const }],
    [undefined, mapped],
    [{ customerId }, settings],
    [{ customerId }, { ...noRoles, defaultRole: 'owner' as const }],
    [{ customerId: null }, mapped],
    [{ customerId: null }, { ...noRoles, defaultRole: 'member' as const }],
    [{ customerId: null }, { ...noRoles, roleClaim: 'groups' }],
  ])('for %j gives no roles of others', (audience, wrong) => {
    given()
      .when({ ...add, audience, settings: wrong })
      .expectRefusal('sign_in_roles_of_others')
    given(event(audience))
      .when({ ...rename, change: wrong })
      .expectRefusal('sign_in_roles_of_others')
  })
})

test('a mapping to one kind of roles leaves out all others', () => {
  const both = { ...settings, roles: [...settings.roles, { value: 'it', role: 'administrator' as const }] }
  expect(mappingTo(Role, { ...both, defaultRole: 'member' })).toStrictEqual({
    roleClaim: 'groups',
    roles: settings.roles,
    defaultRole: null,
  })
  expect(mappingTo(OrganizationRole, { ...both, defaultRole: 'member' })).toStrictEqual({
    roleClaim: 'groups',
    roles: [{ value: 'it', role: 'administrator' }],
    defaultRole: 'member',
  })
})

test.each([
  [{ groups: ['staff', 'admins'] }, 'admin'],
  [{ groups: 'staff' }, 'support'],
  [{ groups: ['Staff'] }, null],
  [{ groups: { staff: true } }, null],
  [{ groups: null }, null],
  [{}, null],
])('the claims %j give the role %s', (claims, role) => expect(roleBy(settings, claims)).toBe(role))

test('a claim that every object has gives no role', () =>
  expect(roleBy({ ...settings, roleClaim: 'constructor' }, {})).toBeNull())

test('without a mapped value the default role counts, and without a claim the role stays', () => {
  expect(roleBy({ ...settings, defaultRole: 'auditor' }, { groups: ['x'] })).toBe('auditor')
  expect(roleBy({ ...settings, roleClaim: null, defaultRole: 'auditor' }, {})).toBe('kept')
})

const entra = 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0'
const email = 'ada@acme.example'

test.each([
  [issuer, { email, email_verified: true }, email],
  [issuer, { email: 'Ada@ACME.example', email_verified: true }, 'Ada@ACME.example'],
  [issuer, { email, email_verified: 'true' }, undefined],
  [issuer, { email, email_verified: false }, undefined],
  [issuer, { email }, undefined],
  [issuer, { email, xms_edov: true }, undefined],
  [entra, { email, xms_edov: true }, email],
  [entra, { email, xms_edov: '1' }, email],
  [entra, { email, xms_edov: false }, undefined],
  [entra, { email }, undefined],
  [issuer, { email: 'ada@sub.acme.example', email_verified: true }, undefined],
  [issuer, { email: 'ada@acme.example.evil.example', email_verified: true }, undefined],
  [issuer, { email: ['ada@acme.example'], email_verified: true }, undefined],
])('%s vouches with %j for %s', (of, claims, vouched) =>
  expect(vouchedEmail({ domains: settings.domains, issuer: of }, claims)).toBe(vouched),
)
