import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import { Refusal } from '../refusal.ts'
import type { CustomerEvent } from './events.ts'
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
      overrides: readonly EntitlementOverride[]
      createdAt: string
      erasedAt: string | null
    }

export type CustomerCommand =
  | {
      type: 'CreateCustomer'
      customerId: string
      tenantId: string
      subjectId: string
      email: string
      name: string | null
      metadata: Record<string, string>
      at: string
    }
  | {
      type: 'ChangeCustomer'
      subjectId: string
      email: string
      name: string | null
      metadata: Record<string, string>
      at: string
    }
  | { type: 'ReplaceOverrides'; overrides: readonly EntitlementOverride[]; at: string }
  | { type: 'EraseCustomer'; at: string }

export const absentCustomer: Customer = { status: 'absent' }

/**
 * Returning no events means that the request was already true.
 * @throws Refusal `customer_exists`, `customer_not_found`, `customer_erased`, `override_values_differ`
 */
export function decideCustomer(customer: Customer, command: CustomerCommand): CustomerEvent[] {
  switch (command.type) {
    case 'CreateCustomer': {
      if (customer.status !== 'absent') throw new Refusal('customer_exists')
      const { type: _, ...data } = command
      return [{ type: 'CustomerCreated', data }]
    }
    case 'ChangeCustomer': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      if (customer.erasedAt !== null) throw new Refusal('customer_erased')
      const { type: _, ...data } = command
      return [{ type: 'CustomerChanged', data }]
    }
    case 'ReplaceOverrides': {
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      const { overrides, at } = command
      requireOneValueEach(overrides)
      if (sameJson(overrides, customer.overrides)) return []
      return [{ type: 'EntitlementOverridesReplaced', data: { overrides: [...overrides], at } }]
    }
    case 'EraseCustomer':
      if (customer.status === 'absent') throw new Refusal('customer_not_found')
      return customer.erasedAt === null ? [{ type: 'CustomerErased', data: { at: command.at } }] : []
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveCustomer(customer: Customer, event: CustomerEvent): Customer {
  switch (event.type) {
    case 'CustomerCreated': {
      const { at, ...data } = event.data
      return { ...data, status: 'present', overrides: [], createdAt: at, erasedAt: null }
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
    case 'CustomerErased': {
      if (customer.status === 'absent') return customer
      const overrides = withoutReasons(customer.overrides)
      return { ...customer, email: null, name: null, metadata: {}, overrides, erasedAt: event.data.at }
    }
  }
}

/** The rules of customer streams. */
export const customers: Decider<Customer, CustomerCommand, 'customer'> = {
  category: 'customer',
  initial: absentCustomer,
  decide: decideCustomer,
  evolve: evolveCustomer,
}
