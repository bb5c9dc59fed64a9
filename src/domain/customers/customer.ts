import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { MeterTerms } from '../meters/terms.ts'
import type { OrganizationEvent } from '../organizations/events.ts'
import {
  decideOnPeople,
  evolvePeople,
  imported,
  isOrganizationCommand,
  type NewPerson,
  type OrganizationCommand,
  type People,
} from '../organizations/people.ts'
import { Refusal } from '../refusal.ts'
import type { CustomerEvent } from './events.ts'
import { maxNotes } from './notes.ts'
import { requireOneValueEach } from './override-values.ts'
import { type EntitlementOverride, withoutReasons } from './overrides.ts'

export type Customer =
  | { status: 'absent' }
  | {
      status: 'present'
      customerId: string
      tenantId: string
      subjectId: string
      /** The people of the vault that the customer's earlier addresses belong to; absent while there are none. */
      formerSubjects?: readonly string[]
      /** Sealed. Null once the person is erased, like their name; the metadata is then empty, and no override has a reason. */
      email: string | null
      name: string | null
      metadata: Record<string, string>
      /** The reseller whose customer it is; absent for a customer of the vendor. */
      resellerId?: string | undefined
      overrides: readonly EntitlementOverride[]
      /** What their licenses share of what is metered. */
      meters: readonly MeterTerms[]
      /** When each meter was first there, also of those that are no longer: what was counted under one stays when it comes back. */
      metersSince: Readonly<Record<string, string>>
      /** The notes about them; absent while there are none. */
      noteIds?: readonly string[]
      /** The people of an organization; absent for a customer who is one person. */
      people?: People
      /** The customer that stands for this one; absent for one that stands for itself. */
      mergedInto?: string
      createdAt: string
      erasedAt: string | null
    }

/** What a customer is made with; the email address and the name are sealed. */
type NewCustomer = {
  customerId: string
  tenantId: string
  subjectId: string
  email: string
  name: string | null
  metadata: Record<string, string>
  at: string
}

export type CustomerCommand =
  | ({
      type: 'CreateCustomer'
      resellerId?: string
      meters?: readonly MeterTerms[] | undefined
    } & NewCustomer)
  /** A customer of another system with its people. It is one append, so that an import leaves no half of one. */
  | ({ type: 'ImportOrganization'; people: readonly NewPerson[] } & NewCustomer)
  | {
      type: 'ChangeCustomer'
      subjectId: string
      email: string
      name: string | null
      metadata: Record<string, string>
      /** undefined where they stay. */
      meters?: readonly MeterTerms[] | undefined
      at: string
    }
  | { type: 'ReplaceMeters'; meters: readonly MeterTerms[]; at: string }
  | { type: 'ReplaceOverrides'; overrides: readonly EntitlementOverride[]; at: string }
  | { type: 'AddNote'; noteId: string; subjectId: string; text: string; at: string }
  | { type: 'RemoveNote'; noteId: string; at: string }
  | { type: 'MergeCustomer'; into: string; at: string }
  | { type: 'UnmergeCustomer'; at: string }
  | { type: 'EraseCustomer'; at: string }
  | OrganizationCommand

export const absentCustomer: Customer = { status: 'absent' }

/**
 * Returning no events means that the request was already true.
 * @throws Refusal `customer_exists`, `customer_not_found`, `customer_erased`, `customer_has_meters`, `customer_merged`,
 *   `customer_is_organization`, `override_values_differ`, `too_many_notes`, what `decideOnPeople` refuses
 */
export function decideCustomer(customer: Customer, command: CustomerCommand): CustomerEvent[] {
  if (isOrganizationCommand(command)) return decidedOnPeople(customer, command)
  switch (command.type) {
    case 'CreateCustomer': {
      if (customer.status !== 'absent') throw new Refusal('customer_exists')
      const { type: _, meters, ...data } = command
      return [{ type: 'CustomerCreated', data }, ...metersReplaced({ meters: [] }, meters, data.at)]
    }
    case 'ImportOrganization': {
      if (customer.status !== 'absent') return []
      const { type: _, people, ...data } = command
      return [{ type: 'CustomerCreated', data }, ...imported(command)]
    }
    case 'ChangeCustomer': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      if (customer.erasedAt !== null) throw new Refusal('customer_erased')
      const { type: _, meters, ...data } = command
      return [{ type: 'CustomerChanged', data }, ...metersReplaced(customer, meters, data.at)]
    }
    case 'ReplaceMeters':
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      return metersReplaced(customer, command.meters, command.at)
    case 'ReplaceOverrides': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      const { overrides, at } = command
      requireOneValueEach(overrides)
      if (sameJson(overrides, customer.overrides)) return []
      if (customer.mergedInto !== undefined) throw new Refusal('customer_merged')
      return [{ type: 'EntitlementOverridesReplaced', data: { overrides: [...overrides], at } }]
    }
    case 'AddNote': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      if (customer.erasedAt !== null) throw new Refusal('customer_erased')
      const { noteIds = [], tenantId } = customer
      const { type: _, ...data } = command
      if (noteIds.includes(data.noteId)) return []
      if (noteIds.length >= maxNotes) throw new Refusal('too_many_notes')
      return [{ type: 'CustomerNoteAdded', data: { ...data, tenantId } }]
    }
    case 'RemoveNote': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      const { noteId, at } = command
      return customer.noteIds?.includes(noteId) ? [{ type: 'CustomerNoteRemoved', data: { noteId, at } }] : []
    }
    case 'MergeCustomer':
      return merged(customer, command)
    case 'UnmergeCustomer': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      const { mergedInto: into } = customer
      return into === undefined ? [] : [{ type: 'CustomerUnmerged', data: { into, at: command.at } }]
    }
    case 'EraseCustomer':
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      return customer.erasedAt === null ? [{ type: 'CustomerErased', data: { at: command.at } }] : []
  }
}

/** An organization is a customer that is there and stands for itself. */
function decidedOnPeople(customer: Customer, command: OrganizationCommand): CustomerEvent[] {
  if (customer.status === 'absent') throw new Refusal('customer_not_found')
  if (command.type === 'FormOrganization') {
    if (customer.erasedAt !== null) throw new Refusal('customer_erased')
    if (customer.mergedInto !== undefined) throw new Refusal('customer_merged')
  }
  return decideOnPeople(customer.people, command)
}

/** What the licenses of a merged customer share would be used by none of them, and its people would lose them. */
function merged(
  customer: Customer,
  { into, at }: Extract<CustomerCommand, { type: 'MergeCustomer' }>,
): CustomerEvent[] {
  if (customer.status === 'absent') throw new Refusal('customer_not_found')
  if (customer.mergedInto === into) return []
  if (customer.mergedInto !== undefined) throw new Refusal('customer_merged')
  if (customer.erasedAt !== null) throw new Refusal('customer_erased')
  if (customer.meters.length > 0) throw new Refusal('customer_has_meters')
  if (customer.people !== undefined) throw new Refusal('customer_is_organization')
  return [{ type: 'CustomerMerged', data: { into, at } }]
}

/** @throws Refusal `customer_merged` */
function metersReplaced(
  before: { meters: readonly MeterTerms[]; mergedInto?: string },
  meters: readonly MeterTerms[] | undefined,
  at: string,
): CustomerEvent[] {
  if (meters === undefined || sameJson(meters, before.meters)) return []
  if (before.mergedInto !== undefined) throw new Refusal('customer_merged')
  return [{ type: 'CustomerMetersReplaced', data: { meters: [...meters], at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveCustomer(customer: Customer, event: CustomerEvent): Customer {
  switch (event.type) {
    case 'CustomerCreated': {
      const { at, ...data } = event.data
      const noMeters = { meters: [], metersSince: {} }
      return { ...data, status: 'present', overrides: [], ...noMeters, createdAt: at, erasedAt: null }
    }
    case 'CustomerChanged': {
      if (customer.status === 'absent') return customer
      const { at: _, ...data } = event.data
      const earlier = [...(customer.formerSubjects ?? []), customer.subjectId]
      const former = [...new Set(earlier)].filter((subjectId) => subjectId !== data.subjectId)
      return { ...customer, ...data, ...(former.length > 0 && { formerSubjects: former }) }
    }
    case 'EntitlementOverridesReplaced':
      return customer.status === 'absent' ? customer : { ...customer, overrides: event.data.overrides }
    case 'CustomerMetersReplaced': {
      if (customer.status === 'absent') return customer
      const { meters, at } = event.data
      const now = Object.fromEntries(meters.map(({ meter }) => [meter, at]))
      return { ...customer, meters, metersSince: { ...now, ...customer.metersSince } }
    }
    case 'CustomerNoteAdded':
      return withNotes(customer, (noteIds) => [...noteIds, event.data.noteId])
    case 'CustomerNoteRemoved':
      return withNotes(customer, (noteIds) => noteIds.filter((noteId) => noteId !== event.data.noteId))
    case 'CustomerMerged':
      return customer.status === 'absent' ? customer : { ...customer, mergedInto: event.data.into }
    case 'CustomerUnmerged': {
      if (customer.status === 'absent') return customer
      const { mergedInto: _, ...unmerged } = customer
      return unmerged
    }
    case 'CustomerErased': {
      if (customer.status === 'absent') return customer
      const overrides = withoutReasons(customer.overrides)
      const { noteIds: _, ...kept } = customer
      return { ...kept, email: null, name: null, metadata: {}, overrides, erasedAt: event.data.at }
    }
    default:
      return withPeople(customer, event)
  }
}

function withPeople(customer: Customer, event: OrganizationEvent): Customer {
  if (customer.status === 'absent') return customer
  const { people: before, ...rest } = customer
  const people = evolvePeople(before, event)
  return { ...rest, ...(people && { people }) }
}

function withNotes(customer: Customer, change: (noteIds: readonly string[]) => readonly string[]): Customer {
  if (customer.status === 'absent') return customer
  const { noteIds = [], ...rest } = customer
  const changed = change(noteIds)
  return { ...rest, ...(changed.length > 0 && { noteIds: changed }) }
}

/** The rules of customer streams. */
export const customers: Decider<Customer, CustomerCommand, 'customer'> = {
  category: 'customer',
  initial: absentCustomer,
  decide: decideCustomer,
  evolve: evolveCustomer,
}
