import fc from 'fast-check'
import { issueCheckoutKey, revealSdkKey, rotateSdkKey } from '../../src/commands/client-keys.ts'
import {
  changeCustomer,
  createCustomer,
  linkLicense,
  requireCustomer,
  unlinkLicense,
} from '../../src/commands/customers/customers.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { mergeCustomer, unmergeCustomer } from '../../src/commands/customers/merging.ts'
import { addNote, removeNote } from '../../src/commands/customers/notes.ts'
import { replaceOverrides } from '../../src/commands/customers/overrides.ts'
import {
  addPeople,
  changePersonRole,
  dissolveOrganization,
  formOrganization,
  removePerson,
} from '../../src/commands/organizations/people.ts'
import { peoplePage } from '../../src/commands/organizations/read-people.ts'
import { causeOf, momentOf } from '../../src/commands/origin.ts'
import { removeWebhook, setWebhook } from '../../src/commands/webhooks.ts'
import { customers } from '../../src/domain/customers/customer.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

type PersonStep = {
  do: 'add person' | 'promote person' | 'remove person' | 'invite person'
  customer: number
  person: number
}

/** A step with customers, keys or the webhook. Customers are chosen by index, modulo the number of existing ones. */
export type CustomerStep =
  | { do: 'add customer' }
  | { do: 'erase customer'; customer: number }
  | { do: 'change customer'; customer: number; address: number }
  | { do: 'add note'; customer: number }
  | { do: 'remove note'; customer: number; note: number }
  | { do: 'link license'; customer: number; license: number }
  | { do: 'unlink license'; customer: number; license: number }
  | { do: 'merge customer'; customer: number; into: number }
  | { do: 'unmerge customer'; customer: number }
  | { do: 'form organization'; customer: number }
  | { do: 'dissolve organization'; customer: number }
  | PersonStep
  | { do: 'override'; customer: number; entitlement: string; effect: 'grant' | 'revoke'; days: number | null }
  | { do: 'reveal sdk key' | 'rotate sdk key'; operation: number }
  | { do: 'issue checkout key' }
  | { do: 'set webhook'; operation: number; url: number; rotateSecret: boolean }
  | { do: 'remove webhook'; operation: number }

const some = fc.nat({ max: 3 })

export const anyCustomerStep: fc.Arbitrary<CustomerStep> = fc.oneof(
  fc.record({ do: fc.constantFrom('add customer' as const, 'issue checkout key' as const) }),
  fc.record({ do: fc.constant('erase customer' as const), customer: some }),
  fc.record({ do: fc.constant('change customer' as const), customer: some, address: some }),
  fc.record({ do: fc.constant('add note' as const), customer: some }),
  fc.record({ do: fc.constant('remove note' as const), customer: some, note: some }),
  fc.record({
    do: fc.constantFrom('link license' as const, 'unlink license' as const),
    customer: some,
    license: some,
  }),
  fc.record({
    do: fc.constantFrom('form organization' as const, 'dissolve organization' as const),
    customer: some,
  }),
  fc.record({
    do: fc.constantFrom(
      'add person' as const,
      'promote person' as const,
      'remove person' as const,
      'invite person' as const,
    ),
    customer: some,
    person: some,
  }),
  fc.record({ do: fc.constant('merge customer' as const), customer: some, into: some }),
  fc.record({ do: fc.constant('unmerge customer' as const), customer: some }),
  fc.record({
    do: fc.constant('override' as const),
    customer: some,
    entitlement: fc.constantFrom('a', 'b', 'c:d'),
    effect: fc.constantFrom('grant' as const, 'revoke' as const),
    days: fc.option(fc.integer({ min: -1, max: 9 })),
  }),
  fc.record({
    do: fc.constantFrom('reveal sdk key' as const, 'rotate sdk key' as const),
    operation: some,
  }),
  fc.record({
    do: fc.constant('set webhook' as const),
    operation: some,
    url: some,
    rotateSecret: fc.boolean(),
  }),
  fc.record({ do: fc.constant('remove webhook' as const), operation: some }),
)

const day = 86_400_000

/** Runs the steps of one tenant. @throws Refusal for a step that the rules do not allow */
export function customerStepRunner({ ports, clock }: TestLedger, tenantId: string, productId: string) {
  const customerIds: string[] = []
  const noteIds: string[] = []
  const customerAt = (index: number) => customerIds[index % customerIds.length]

  async function onPerson(what: PersonStep['do'], customerId: string, person: number): Promise<unknown> {
    const place = { tenantId, customerId }
    const email = `person-${person}@example.com`
    if (what === 'add person') return addPeople(ports, place, [{ email, role: 'member' }], undefined, origin)
    const { people } = await peoplePage(ports, place, { after: undefined, limit: 100 })
    const personId = people.find((one) => one.email === email)?.personId ?? 'per_none'
    if (what === 'promote person')
      return changePersonRole(ports, place, { personId, role: 'administrator' }, origin)
    if (what === 'remove person') return removePerson(ports, place, personId, origin)
    const at = momentOf(ports)
    for (const command of [
      { type: 'InvitePerson', personId, language: 'en', at },
      { type: 'RecordInvitation', personId, at },
    ] as const)
      await ports.execute(customers, customerId, command, causeOf(origin, at))
    return undefined
  }

  async function runOnCustomer(step: Extract<CustomerStep, { customer: number }>, licenseId: string) {
    const id = customerAt(step.customer)
    if (id === undefined) return
    if (step.do === 'erase customer') {
      const { customer } = await requireCustomer(ports, tenantId, id)
      return eraseSubject(ports, tenantId, customer.subjectId, origin)
    }
    if (step.do === 'link license') return linkLicense(ports, tenantId, id, licenseId, origin)
    if (step.do === 'unlink license') return unlinkLicense(ports, tenantId, id, licenseId, origin)
    if (step.do === 'form organization') return formOrganization(ports, { tenantId, customerId: id }, origin)
    if (step.do === 'dissolve organization')
      return dissolveOrganization(ports, { tenantId, customerId: id }, origin)
    if ('person' in step) return onPerson(step.do, id, step.person)
    if (step.do === 'merge customer')
      return mergeCustomer(ports, tenantId, { id, into: customerAt(step.into) ?? '' }, origin)
    if (step.do === 'unmerge customer') return unmergeCustomer(ports, tenantId, id, origin)
    if (step.do === 'add note') {
      const { noteId } = await addNote(ports, { tenantId, customerId: id }, 'Pays by invoice.', origin)
      return noteIds.push(noteId)
    }
    if (step.do === 'remove note') {
      const noteId = noteIds[step.note % noteIds.length] ?? 'nte_none'
      return removeNote(ports, { tenantId, customerId: id }, noteId, origin)
    }
    if (step.do === 'change customer') {
      const email = `${tenantId}-${step.address}@example.com`
      return changeCustomer(ports, tenantId, id, { email }, origin)
    }
    const { entitlement, effect, days } = step
    const expiresAt =
      days === null ? {} : { expiresAt: new Date(clock.now().getTime() + days * day).toISOString() }
    const overrides = [{ entitlement, effect, ...(days === 0 && { productId }), ...expiresAt }]
    return replaceOverrides(ports, tenantId, id, overrides, origin)
  }

  /** @param licenseId the license of the step, empty without one */
  return async (step: CustomerStep, licenseId: string): Promise<unknown> => {
    const operation = 'operation' in step ? `cnf_${step.operation}` : ''
    switch (step.do) {
      case 'add customer': {
        const person = { email: `${tenantId}@example.com`, name: 'Ada', metadata: {} }
        const { customer } = await createCustomer(ports, tenantId, person, origin)
        return customerIds.push(customer.customerId)
      }
      case 'erase customer':
      case 'link license':
      case 'unlink license':
      case 'change customer':
      case 'add note':
      case 'remove note':
      case 'form organization':
      case 'dissolve organization':
      case 'add person':
      case 'promote person':
      case 'remove person':
      case 'invite person':
      case 'merge customer':
      case 'unmerge customer':
      case 'override':
        return runOnCustomer(step, licenseId)
      case 'reveal sdk key':
        return revealSdkKey(ports, tenantId, operation, origin)
      case 'rotate sdk key':
        return rotateSdkKey(ports, tenantId, operation, origin)
      case 'issue checkout key':
        return issueCheckoutKey(ports, tenantId, origin)
      case 'set webhook': {
        const { rotateSecret } = step
        const settings = { url: `https://example.com/${step.url}`, events: undefined, rotateSecret }
        return setWebhook(ports, tenantId, settings, operation, origin)
      }
      case 'remove webhook':
        return removeWebhook(ports, tenantId, operation, origin)
    }
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyCustomerStep: readonly CustomerStep[] = [
  { do: 'add customer' },
  { do: 'link license', customer: 0, license: 0 },
  { do: 'override', customer: 0, entitlement: 'a', effect: 'grant', days: 2 },
  { do: 'override', customer: 0, entitlement: 'b', effect: 'revoke', days: null },
  { do: 'reveal sdk key', operation: 0 },
  { do: 'rotate sdk key', operation: 1 },
  { do: 'issue checkout key' },
  { do: 'issue checkout key' },
  { do: 'set webhook', operation: 0, url: 0, rotateSecret: false },
  { do: 'set webhook', operation: 1, url: 1, rotateSecret: true },
  { do: 'remove webhook', operation: 2 },
  { do: 'set webhook', operation: 3, url: 0, rotateSecret: false },
  { do: 'change customer', customer: 0, address: 1 },
  { do: 'link license', customer: 0, license: 0 },
  { do: 'unlink license', customer: 0, license: 0 },
  { do: 'form organization', customer: 0 },
  { do: 'add person', customer: 0, person: 1 },
  { do: 'add person', customer: 0, person: 2 },
  { do: 'invite person', customer: 0, person: 1 },
  { do: 'promote person', customer: 0, person: 2 },
  { do: 'remove person', customer: 0, person: 1 },
  { do: 'add person', customer: 0, person: 1 },
  { do: 'dissolve organization', customer: 0 },
  { do: 'form organization', customer: 0 },
  { do: 'add note', customer: 0 },
  { do: 'add note', customer: 0 },
  { do: 'remove note', customer: 0, note: 0 },
  { do: 'erase customer', customer: 0 },
  { do: 'add customer' },
  { do: 'link license', customer: 1, license: 0 },
  { do: 'add customer' },
  { do: 'merge customer', customer: 1, into: 2 },
  { do: 'unmerge customer', customer: 1 },
  { do: 'merge customer', customer: 1, into: 2 },
]
