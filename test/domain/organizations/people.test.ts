/**
 * An organization has people, each once and at most a thousand, of whom one is always an administrator; only an erasure takes the last
 * one. Nobody is invited twice within an hour.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { absentCustomer, type CustomerCommand, customers } from '../../../src/domain/customers/customer.ts'
import type { CustomerEvent } from '../../../src/domain/customers/events.ts'
import type { OrganizationRole } from '../../../src/domain/organizations/events.ts'
import { maxPeople, type NewPerson } from '../../../src/domain/organizations/people.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { givenOn } from '../given.ts'

const given = givenOn(customers)

const at = '2026-03-01T12:00:00.000Z'
const soon = '2026-03-01T12:59:59.000Z'
const later = '2026-03-01T13:00:00.000Z'
const created: CustomerEvent = {
  type: 'CustomerCreated',
  data: {
    ...{ customerId: 'cus_1', tenantId: 'acme', subjectId: 'sub_1', email: 'sealed.1.email', name: null },
    ...{ metadata: {}, at },
  },
}
const person = (number: number, role: OrganizationRole = 'member'): NewPerson => ({
  personId: `per_${number}`,
  subjectId: `sub_${number}`,
  email: 'sealed.1.email',
  name: null,
  role,
})
const form: CustomerCommand = {
  type: 'FormOrganization',
  tenantId: 'acme',
  administrator: person(1, 'administrator'),
  at,
}
const added = (one: NewPerson): CustomerEvent => ({
  type: 'PersonAdded',
  data: { ...one, tenantId: 'acme', at },
})
const formed: CustomerEvent[] = [
  { type: 'OrganizationFormed', data: { at } },
  added(person(1, 'administrator')),
]
const add = (people: NewPerson[], invite?: 'en' | 'de'): CustomerCommand => ({
  type: 'AddPeople',
  tenantId: 'acme',
  people,
  invite,
  at,
})
const asked = (personId: string, moment = at): CustomerEvent => ({
  type: 'InvitationAsked',
  data: { personId, language: 'en', at: moment },
})
const mailed: CustomerEvent = { type: 'InvitationMailed', data: { personId: 'per_2', at } }
const removed: CustomerEvent = { type: 'PersonRemoved', data: { personId: 'per_2', at } }
const merged: CustomerEvent = { type: 'CustomerMerged', data: { into: 'cus_2', at } }

describe('an organization', () => {
  test('is formed once, with its buyer as the first administrator', () => {
    given(created).when(form).expectEvents(formed)
    given(created, ...formed)
      .when(form)
      .expectEvents([])
  })
  test('of another system is made at once with all its people, each once, and once only', () => {
    const people = [person(2), person(1, 'administrator'), person(2)]
    const { type: _, ...customer } = { type: created.type, ...created.data }
    const take: CustomerCommand = { type: 'ImportOrganization', ...customer, people }
    const taken = [created, { type: 'OrganizationFormed', data: { at } } as const, added(person(2))]
    given()
      .when(take)
      .expectEvents([...taken, added(person(1, 'administrator'))])
    given(created).when(take).expectEvents([])
    given(created, { type: 'CustomerErased', data: { at } }).when(take).expectEvents([])
    given()
      .when({ ...take, people: [person(2)] })
      .expectRefusal('last_administrator')
    const tooMany = Array.from({ length: maxPeople + 1 }, (_, index) => person(index, 'administrator'))
    given()
      .when({ ...take, people: tooMany })
      .expectRefusal('too_many_people')
  })
  test('is a customer that is there, not erased, and stands for itself', () => {
    given().when(form).expectRefusal('customer_not_found')
    given(created, { type: 'CustomerErased', data: { at } }).when(form).expectRefusal('customer_erased')
    given(created, merged).when(form).expectRefusal('customer_merged')
  })
  test('is not merged into another customer, whose people would lose its licenses', () =>
    given(created, ...formed)
      .when({ type: 'MergeCustomer', into: 'cus_2', at })
      .expectRefusal('customer_is_organization'))
  test('is dissolved once, and as before then', () => {
    const dissolved: CustomerEvent = { type: 'OrganizationDissolved', data: { at } }
    given(created, ...formed)
      .when({ type: 'DissolveOrganization', at })
      .expectEvents([dissolved])
    given(created).when({ type: 'DissolveOrganization', at }).expectEvents([])
    const stateAfter = (...events: CustomerEvent[]) => events.reduce(customers.evolve, absentCustomer)
    expect(stateAfter(created, ...formed, dissolved)).toStrictEqual(stateAfter(created))
  })
})

describe('people', () => {
  test('are added once each, with an invitation if they are to get one', () => {
    given(created, ...formed)
      .when(add([person(2), person(1), person(2)], 'en'))
      .expectEvents([added(person(2)), asked('per_2')])
    given(created, ...formed)
      .when(add([person(2)]))
      .expectEvents([added(person(2))])
  })
  test('are of an organization', () => {
    given(created)
      .when(add([person(2)]))
      .expectRefusal('not_an_organization')
    given(created).when({ type: 'RemovePerson', personId: 'per_2', at }).expectRefusal('not_an_organization')
  })
  test('are all added, or none', () => {
    const many = Array.from({ length: maxPeople - 1 }, (_, index) => person(index + 2))
    given(created, ...formed)
      .when(add([...many, person(5000)]))
      .expectRefusal('too_many_people')
    given(created, ...formed)
      .when(add(many))
      .expectEvents(many.map(added))
  })
  test('change their role, and nothing for the same one', () => {
    const change = { type: 'ChangePersonRole', personId: 'per_2', role: 'administrator', at } as const
    const changed: CustomerEvent = {
      type: 'PersonRoleChanged',
      data: { personId: 'per_2', role: 'administrator', at },
    }
    given(created, ...formed, added(person(2)))
      .when(change)
      .expectEvents([changed])
    given(created, ...formed, added(person(2)), changed)
      .when(change)
      .expectEvents([])
    given(created, ...formed)
      .when(change)
      .expectRefusal('person_not_found')
  })
  test('are removed', () => {
    given(created, ...formed, added(person(2)))
      .when({ type: 'RemovePerson', personId: 'per_2', at })
      .expectEvents([removed])
    given(created, ...formed, added(person(2)), removed)
      .when({ type: 'RemovePerson', personId: 'per_2', at })
      .expectRefusal('person_not_found')
  })
  test('keep their last administrator, unless that person is erased', () => {
    const first = { personId: 'per_1', at }
    const one = given(created, ...formed, added(person(2)))
    one.when({ type: 'RemovePerson', ...first }).expectRefusal('last_administrator')
    one.when({ type: 'ChangePersonRole', role: 'member', ...first }).expectRefusal('last_administrator')
    one
      .when({ type: 'ErasePerson', subjectId: 'sub_1', at })
      .expectEvents([{ type: 'PersonRemoved', data: first }])
    one.when({ type: 'ErasePerson', subjectId: 'sub_9', at }).expectEvents([])
    given(created).when({ type: 'ErasePerson', subjectId: 'sub_1', at }).expectEvents([])
  })
})

describe('an invitation', () => {
  const invite = (moment: string): CustomerCommand => ({
    type: 'InvitePerson',
    personId: 'per_2',
    language: 'en',
    at: moment,
  })
  const invited = given(created, ...formed, added(person(2)), asked('per_2'))
  test('is sent again after an hour', () => {
    invited.when(invite(soon)).expectRefusal('invited_recently')
    invited.when(invite(later)).expectEvents([asked('per_2', later)])
  })
  test('is recorded as mailed once', () => {
    const record: CustomerCommand = { type: 'RecordInvitation', personId: 'per_2', at }
    invited.when(record).expectEvents([mailed])
    given(created, ...formed, added(person(2)), asked('per_2'), mailed)
      .when(record)
      .expectEvents([])
    given(created, ...formed, added(person(2)))
      .when(record)
      .expectEvents([])
  })
})

test('whatever is asked, there is an administrator until one is erased, and nobody twice', () => {
  const number = fc.integer({ min: 1, max: 4 })
  const role = fc.constantFrom<OrganizationRole[]>('administrator', 'member')
  const command = fc.oneof(
    fc
      .array(fc.tuple(number, role), { maxLength: 4 })
      .map((people) => add(people.map((one) => person(...one)))),
    fc.tuple(number, role).map(
      ([one, to]): CustomerCommand => ({
        type: 'ChangePersonRole',
        personId: `per_${one}`,
        role: to,
        at,
      }),
    ),
    number.map((one): CustomerCommand => ({ type: 'RemovePerson', personId: `per_${one}`, at })),
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      let state = [created, ...formed].reduce(customers.evolve, absentCustomer)
      for (const one of commands) {
        try {
          state = customers.decide(state, one).reduce(customers.evolve, state)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
        }
        const people = Object.values((state.status === 'present' && state.people) || {})
        expect(people.filter(({ role: now }) => now === 'administrator')).not.toHaveLength(0)
        expect(new Set(people.map(({ subjectId }) => subjectId)).size).toBe(people.length)
      }
    }),
  )
})
