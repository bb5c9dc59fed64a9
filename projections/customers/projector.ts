import { customers } from '../../src/domain/customers/customer.ts'
import { withoutReasons } from '../../src/domain/customers/overrides.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(customers), {
  table: 'customers',
  begun: (customer) => (customer.status === 'absent' ? undefined : customer),
  columns: {
    customerId: 'text not null unique',
    tenantId: 'text not null',
    subjectId: 'text not null',
    createdAt: 'timestamptz not null',
  },
  computed: {
    // What a validate needs of a customer, beside the state so that it need not be taken apart; null for none.
    overrides: [
      'jsonb',
      (customer) => (customer.overrides.length > 0 ? withoutReasons(customer.overrides) : null),
    ],
  },
  indexes: {
    customers_by_age: '(tenant_id, created_at desc, customer_id desc)',
    customers_erased: "(tenant_id, created_at desc, customer_id desc) where state->>'erasedAt' is not null",
    customers_of_subject: '(tenant_id, subject_id)',
  },
})

export const customersProjector = projectorOf(documents)
