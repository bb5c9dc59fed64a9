/** A customer is created once; their overrides are replaced as a whole, and a repetition is not recorded. */
import { describe, expect, test } from 'vitest'
import {
  absentCustomer,
  type CustomerCommand,
  decideCustomer,
  evolveCustomer,
} from '../../../src/domain/customers/customer.ts'
import type { CustomerEvent } from '../../../src/domain/customers/events.ts'
import { maxNotes } from '../../../src/domain/customers/notes.ts'
import type { EntitlementOverride } from '../../../src/domain/customers/overrides.ts'
import { MetersOfCustomer, MeterTerms } from '../../../src/domain/meters/terms.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentCustomer, decide: decideCustomer, evolve: evolveCustomer })

const at = '2026-03-01T12:00:00.000Z'
const later = '2026-03-02T12:00:00.000Z'
const ada = {
  customerId: 'cus_1',
  tenantId: 'acme',
  subjectId: 'sub_1',
  email: 'sealed.1.email',
  name: null,
  metadata: { crm: '7' },
}
const create: CustomerCommand = { type: 'CreateCustomer', ...ada, at }
const created: CustomerEvent = { type: 'CustomerCreated', data: { ...ada, at } }
const grant: EntitlementOverride = { entitlement: 'export', effect: 'grant', reason: 'a trial' }
const revoke: EntitlementOverride = { entitlement: 'sync', effect: 'revoke', productId: 'editor' }
const replace = (...overrides: EntitlementOverride[]): CustomerCommand => ({
  type: 'ReplaceOverrides',
  overrides,
  at: later,
})
const replaced = (...overrides: EntitlementOverride[]): CustomerEvent => ({
  type: 'EntitlementOverridesReplaced',
  data: { overrides, at: later },
})

describe('creating', () => {
  test('records who they are', () => given().when(create).expectEvents([created]))

  test('is refused where there is one', () => given(created).when(create).expectRefusal('customer_exists'))

  test('gives a customer without overrides', () => {
    expect([created].reduce(evolveCustomer, absentCustomer)).toStrictEqual({
      ...ada,
      status: 'present',
      overrides: [],
      meters: [],
      metersSince: {},
      createdAt: at,
      erasedAt: null,
    })
  })
})

describe('replacing overrides', () => {
  test('records the whole list, regardless of the former one', () => {
    given(created)
      .when(replace(grant, revoke))
      .expectEvents([replaced(grant, revoke)])
    given(created, replaced(grant, revoke))
      .when(replace(revoke))
      .expectEvents([replaced(revoke)])
    given(created, replaced(grant)).when(replace()).expectEvents([replaced()])
  })

  test('by the same list records nothing', () => {
    given(created).when(replace()).expectEvents([])
    given(created, replaced(grant, revoke))
      .when(replace({ reason: 'a trial', effect: 'grant', entitlement: 'export' }, revoke))
      .expectEvents([])
  })

  test('of an absent customer is refused', () =>
    given().when(replace(grant)).expectRefusal('customer_not_found'))

  test('leaves the last list', () => {
    const customer = [created, replaced(grant), replaced(revoke)].reduce(evolveCustomer, absentCustomer)
    expect(customer).toMatchObject({ overrides: [revoke] })
  })
})

describe('changing', () => {
  const { email, metadata } = ada
  const change = (subjectId: string): CustomerCommand => ({
    type: 'ChangeCustomer',
    ...{ subjectId, email, name: 'sealed.1.name', metadata, at: later },
  })
  const changed = (subjectId: string): CustomerEvent => ({
    type: 'CustomerChanged',
    data: { subjectId, email, name: 'sealed.1.name', metadata, at: later },
  })

  test('records the whole person', () =>
    given(created)
      .when(change('sub_1'))
      .expectEvents([changed('sub_1')]))

  test('of an absent or erased customer is refused', () => {
    given().when(change('sub_1')).expectRefusal('customer_not_found')
    given(created, { type: 'CustomerErased', data: { at: later } })
      .when(change('sub_1'))
      .expectRefusal('customer_erased')
  })

  test.each([
    [['sub_1'], undefined],
    [['sub_2'], ['sub_1']],
    [
      ['sub_2', 'sub_3'],
      ['sub_1', 'sub_2'],
    ],
    [['sub_2', 'sub_1'], ['sub_2']],
  ])('the address to that of %j remembers the people of the others', (subjects, former) => {
    const customer = [created, ...subjects.map(changed)].reduce(evolveCustomer, absentCustomer)
    expect(customer).toMatchObject({ subjectId: subjects.at(-1), name: 'sealed.1.name' })
    expect(customer).toHaveProperty('createdAt', at)
    expect('formerSubjects' in customer ? customer.formerSubjects : undefined).toStrictEqual(former)
  })
})

describe('a note', () => {
  const add = (noteId = 'nte_1'): CustomerCommand => ({
    type: 'AddNote',
    noteId,
    subjectId: 'sub_1',
    text: 'sealed.1.note',
    at: later,
  })
  const added = (noteId = 'nte_1'): CustomerEvent => ({
    type: 'CustomerNoteAdded',
    data: { noteId, tenantId: 'acme', subjectId: 'sub_1', text: 'sealed.1.note', at: later },
  })
  const remove: CustomerCommand = { type: 'RemoveNote', noteId: 'nte_1', at: later }
  const removed: CustomerEvent = { type: 'CustomerNoteRemoved', data: { noteId: 'nte_1', at: later } }

  test('is added once and removed once', () => {
    given(created).when(add()).expectEvents([added()])
    given(created, added()).when(add()).expectEvents([])
    given(created, added()).when(remove).expectEvents([removed])
    given(created, added(), removed).when(remove).expectEvents([])
  })

  test('about an absent or erased customer is refused, and so is one too many', () => {
    given().when(add()).expectRefusal('customer_not_found')
    given(created, { type: 'CustomerErased', data: { at: later } })
      .when(add())
      .expectRefusal('customer_erased')
    const full = Array.from({ length: maxNotes }, (_, at) => added(`nte_full_${at}`))
    given(created, ...full)
      .when(add())
      .expectRefusal('too_many_notes')
  })

  test('leaves nothing of itself once it is removed or the customer is erased', () => {
    const erased: CustomerEvent = { type: 'CustomerErased', data: { at: later } }
    const stateAfter = (...events: CustomerEvent[]) =>
      [created, ...events].reduce(evolveCustomer, absentCustomer)
    expect(stateAfter(added(), removed)).toStrictEqual(stateAfter())
    expect(stateAfter(added(), erased)).toStrictEqual(stateAfter(erased))
  })
})

describe('erasing', () => {
  const erase: CustomerCommand = { type: 'EraseCustomer', at: later }
  const erased: CustomerEvent = { type: 'CustomerErased', data: { at: later } }

  test('is recorded once', () => {
    given(created).when(erase).expectEvents([erased])
    given(created, erased).when(erase).expectEvents([])
  })

  test('of an absent customer is refused', () => given().when(erase).expectRefusal('customer_not_found'))

  test('leaves their overrides without the reasons, and no personal data', () => {
    const sealedReason = { subjectId: 'sub_ada', text: 'sealed.1.key.text' }
    const given = replaced(grant, { ...revoke, sealedReason })
    expect([created, given, erased].reduce(evolveCustomer, absentCustomer)).toStrictEqual({
      ...ada,
      status: 'present',
      email: null,
      metadata: {},
      overrides: [{ entitlement: 'export', effect: 'grant' }, revoke],
      meters: [],
      metersSince: {},
      createdAt: at,
      erasedAt: later,
    })
  })
})

test('overrides of an absent customer are applied without an error', () =>
  expect(evolveCustomer(absentCustomer, replaced(grant))).toStrictEqual(absentCustomer))

describe('meters that the licenses share', () => {
  const calls = MeterTerms.parse({
    ...{ meter: 'calls', unit: 'calls', included: '10', period: 'license', overage: 'block' },
  })
  const metered = (meters: MeterTerms[], moment: string): CustomerEvent => ({
    type: 'CustomerMetersReplaced',
    data: { meters, at: moment },
  })
  const stateAfter = (...events: CustomerEvent[]) => {
    const customer = events.reduce(evolveCustomer, absentCustomer)
    return customer.status === 'absent' ? undefined : customer
  }

  test('are recorded with the customer, with a change of them, and alone', () => {
    given()
      .when({ ...create, meters: [calls] })
      .expectEvents([created, metered([calls], at)])
    const { customerId: _, tenantId: __, ...person } = ada
    given(created)
      .when({ type: 'ChangeCustomer', ...person, meters: [calls], at: later })
      .expectEvents([{ type: 'CustomerChanged', data: { ...person, at: later } }, metered([calls], later)])
    given(created)
      .when({ type: 'ReplaceMeters', meters: [calls], at: later })
      .expectEvents([metered([calls], later)])
  })

  test('that are the same already are not recorded again', () =>
    given(created, metered([calls], at))
      .when({ type: 'ReplaceMeters', meters: [{ ...calls }], at: later })
      .expectEvents([]))

  test('are there since the customer first had them, also when they come back', () => {
    const back = stateAfter(created, metered([calls], at), metered([], later), metered([calls], later))
    expect(back).toMatchObject({ meters: [calls], metersSince: { calls: at } })
  })

  test('stay when the person is erased, and can be changed then', () => {
    const erased: CustomerEvent = { type: 'CustomerErased', data: { at: later } }
    expect(stateAfter(created, metered([calls], at), erased)?.meters).toStrictEqual([calls])
    given(created, erased)
      .when({ type: 'ReplaceMeters', meters: [calls], at: later })
      .expectEvents([metered([calls], later)])
  })

  test('have no period by purchase, and each name once', () => {
    expect(MetersOfCustomer.safeParse([calls]).success).toBe(true)
    expect(MetersOfCustomer.safeParse([calls, calls]).success).toBe(false)
    const { error } = MetersOfCustomer.safeParse([{ ...calls, period: 'purchase' }])
    expect(error?.issues).toMatchObject([{ path: [0, 'period'] }])
  })
})
