/**
 * A tenant is created once, under an id that is not part of the service's own URLs; suspending and
 * reinstating can be repeated; closing is final.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TenantEvent } from '../../../src/domain/tenants/events.ts'
import {
  absentTenant,
  decideTenant,
  evolveTenant,
  isNamed,
  planLimits,
  type TenantCommand,
} from '../../../src/domain/tenants/tenant.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentTenant, decide: decideTenant, evolve: evolveTenant })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'

const acme = { tenantId: 'acme', name: 'Acme', plan: 'team' } as const
const create: TenantCommand = { type: 'CreateTenant', ...acme, at: later }
const suspend: TenantCommand = { type: 'SuspendTenant', reason: 'unpaid', at: later }
const reinstate: TenantCommand = { type: 'ReinstateTenant', at: later }
const close: TenantCommand = { type: 'CloseTenant', reason: null, at: later }

const created: TenantEvent = { type: 'TenantCreated', data: { ...acme, at } }
const suspended: TenantEvent = { type: 'TenantSuspended', data: { reason: 'unpaid', at } }
const reinstated: TenantEvent = { type: 'TenantReinstated', data: { at } }
const ruled: TenantEvent = { type: 'ApprovalRuleChanged', data: { anotherMember: true, at } }
const closed: TenantEvent = { type: 'TenantClosed', data: { reason: null, at } }

describe('creating', () => {
  test('a tenant begins with its id, name and plan', () =>
    given()
      .when(create)
      .expectEvents([{ type: 'TenantCreated', data: { ...acme, at: later } }]))

  test.each([
    ['active', [created]],
    ['suspended', [created, suspended]],
    ['closed', [created, closed]],
  ])('an id taken by a tenant that is %s is refused', (_, history) =>
    given(...history)
      .when(create)
      .expectRefusal('tenant_exists'),
  )

  test.each([
    'v1',
    'api',
    'webhooks',
    'dashboard',
    'docs',
    'assets',
    'livez',
    'readyz',
    'metrics',
    'login',
    '.well-known',
  ])('the id %s is refused, since the service answers there itself', (tenantId) =>
    given()
      .when({ ...create, tenantId })
      .expectRefusal('tenant_id_reserved'),
  )

  test.each(['v2', 'apis', 'my-docs', 'v1-0'])(
    'the id %s, which only resembles a reserved one, is free',
    (tenantId) =>
      given()
        .when({ ...create, tenantId })
        .expectEvents([{ type: 'TenantCreated', data: { ...acme, tenantId, at: later } }]),
  )
})

test.each([suspend, reinstate, close])('$type on an absent tenant is refused', (command) =>
  given().when(command).expectRefusal('tenant_not_found'),
)

describe('suspending', () => {
  const recorded: TenantEvent = { type: 'TenantSuspended', data: { reason: 'unpaid', at: later } }

  test('an active tenant is suspended, with the reason', () =>
    given(created).when(suspend).expectEvents([recorded]))
  test('a reinstated tenant is suspended again', () =>
    given(created, suspended, reinstated).when(suspend).expectEvents([recorded]))
  test('a suspended tenant stays as it is', () => given(created, suspended).when(suspend).expectEvents([]))
  test('a closed tenant is refused', () =>
    given(created, closed).when(suspend).expectRefusal('tenant_closed'))
})

describe('reinstating', () => {
  test('a suspended tenant is active again', () =>
    given(created, suspended)
      .when(reinstate)
      .expectEvents([{ type: 'TenantReinstated', data: { at: later } }]))
  test('an active tenant stays as it is', () => given(created).when(reinstate).expectEvents([]))
  test('a closed tenant is refused, since closing is final', () =>
    given(created, suspended, closed).when(reinstate).expectRefusal('tenant_closed'))
})

describe('closing', () => {
  const recorded: TenantEvent = { type: 'TenantClosed', data: { reason: null, at: later } }

  test('an active tenant is closed', () => given(created).when(close).expectEvents([recorded]))
  test('a suspended tenant is closed', () => given(created, suspended).when(close).expectEvents([recorded]))
  test('a closed tenant stays as it is', () => given(created, closed).when(close).expectEvents([]))
})

describe('renaming', () => {
  const rename = (name: string): TenantCommand => ({ type: 'RenameTenant', name, at: later })
  const renamed = (name: string): TenantEvent => ({ type: 'TenantRenamed', data: { name, at: later } })

  test('a tenant gets another name, once', () => {
    given(created)
      .when(rename('Acme Tools'))
      .expectEvents([renamed('Acme Tools')])
    given(created, renamed('Acme Tools')).when(rename('Acme Tools')).expectEvents([])
    given(created, suspended)
      .when(rename('Acme Tools'))
      .expectEvents([renamed('Acme Tools')])
  })
  test('a closed tenant is refused', () =>
    given(created, closed).when(rename('Acme Tools')).expectRefusal('tenant_closed'))
  test('an absent tenant is refused', () =>
    given().when(rename('Acme Tools')).expectRefusal('tenant_not_found'))

  const isNamedAfter = (name: string, ...events: TenantEvent[]) => {
    const first: TenantEvent = { type: 'TenantCreated', data: { ...acme, name, at } }
    const tenant = [first, ...events].reduce(evolveTenant, absentTenant)
    return tenant.status !== 'absent' && isNamed(tenant)
  }
  test('a tenant that is called like its id is named once its name was chosen, be it the same one', () => {
    expect(isNamedAfter('acme')).toBe(false)
    expect(isNamedAfter('Acme')).toBe(false)
    expect(isNamedAfter('Acme Tools')).toBe(true)
    given({ type: 'TenantCreated', data: { ...acme, at } })
      .when(rename('Acme'))
      .expectEvents([renamed('Acme')])
    expect(isNamedAfter('Acme', renamed('Acme'))).toBe(true)
  })
})

describe('the onboarding', () => {
  test.each([
    ['DismissOnboarding', 'OnboardingDismissed'],
    ['ChooseSellingElsewhere', 'SellingElsewhereChosen'],
  ] as const)('%s is recorded once, and refused when closed', (type, event) => {
    const noted: TenantEvent = { type: event, data: { at: later } }
    const note: TenantCommand = { type, at: later }
    given(created).when(note).expectEvents([noted])
    given(created, noted).when(note).expectEvents([])
    given(created, closed).when(note).expectRefusal('tenant_closed')
  })
})

test('requests can be approved for ten minutes, until another time is chosen', () => {
  const choose = (seconds: number): TenantCommand => ({
    type: 'ChangeConfirmationLifetime',
    seconds,
    at: later,
  })
  const chosen = (seconds: number): TenantEvent => ({
    type: 'ConfirmationLifetimeChanged',
    data: { seconds, at: later },
  })
  given(created).when(choose(600)).expectEvents([])
  given(created)
    .when(choose(86_400))
    .expectEvents([chosen(86_400)])
  given(created, chosen(86_400)).when(choose(86_400)).expectEvents([])
  given(created, closed).when(choose(3600)).expectRefusal('tenant_closed')
})

describe('whether another member approves', () => {
  const rule = (anotherMember: boolean): TenantCommand => ({
    type: 'ChangeApprovalRule',
    anotherMember,
    at: later,
  })
  const changed = (anotherMember: boolean): TenantEvent => ({
    type: 'ApprovalRuleChanged',
    data: { anotherMember, at: later },
  })

  test('is off at first, turned on, and off again', () => {
    given(created).when(rule(false)).expectEvents([])
    given(created)
      .when(rule(true))
      .expectEvents([changed(true)])
    given(created, ruled).when(rule(true)).expectEvents([])
    given(created, ruled)
      .when(rule(false))
      .expectEvents([changed(false)])
    given(created, suspended)
      .when(rule(true))
      .expectEvents([changed(true)])
  })
  test('cannot be changed for a closed or absent tenant', () => {
    given(created, closed).when(rule(true)).expectRefusal('tenant_closed')
    given().when(rule(true)).expectRefusal('tenant_not_found')
  })
})

describe('the state', () => {
  const state = (...events: TenantEvent[]) => events.reduce(evolveTenant, absentTenant)
  const unset = {
    confirmationSeconds: 600,
    anotherMemberApproves: false,
    onboardingDismissed: false,
    sellsElsewhere: false,
  }
  const present = { ...acme, ...unset, createdAt: at }

  test('follows the events', () => {
    expect(state(created)).toStrictEqual({ ...present, status: 'active' })
    expect(state(created, suspended)).toStrictEqual({ ...present, status: 'suspended' })
    expect(state(created, suspended, reinstated)).toStrictEqual({ ...present, status: 'active' })
    expect(state(created, closed)).toStrictEqual({ ...present, status: 'closed' })
    const status = 'active'
    const dismissed: TenantEvent = { type: 'OnboardingDismissed', data: { at: later } }
    const elsewhere: TenantEvent = { type: 'SellingElsewhereChosen', data: { at: later } }
    expect(state(created, dismissed, elsewhere)).toStrictEqual({
      ...present,
      status,
      onboardingDismissed: true,
      sellsElsewhere: true,
    })
    expect(state(created, ruled)).toStrictEqual({ ...present, status, anotherMemberApproves: true })
  })

  test('accepts any sequence of events without an error, and is absent until a creation', () => {
    const events = fc.array(fc.constantFrom(created, suspended, reinstated, closed))
    fc.assert(
      fc.property(events, (history) => {
        expect(state(...history).status === 'absent').toBe(!history.includes(created))
      }),
    )
  })
})

test('a plan allows exactly the products and active devices that it is sold with', () =>
  expect(planLimits).toStrictEqual({
    free: { products: 3, activeDevices: 100 },
    team: { products: 50, activeDevices: 10_000 },
    unlimited: { products: Number.POSITIVE_INFINITY, activeDevices: Number.POSITIVE_INFINITY },
  }))
