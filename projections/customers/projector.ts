import { type Customer, customers } from '../../src/domain/customers/customer.ts'
import { withoutReasons } from '../../src/domain/customers/overrides.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Customer> = {
  table: 'customers',
  ...evolvedBy(customers),
  columns: (customer) =>
    customer.status === 'absent'
      ? {}
      : {
          customer_id: customer.customerId,
          tenant_id: customer.tenantId,
          subject_id: customer.subjectId,
          overrides: customer.overrides.length > 0 ? withoutReasons(customer.overrides) : null,
          created_at: customer.createdAt,
        },
}

export const customersProjector: Projector = {
  name: 'customers',
  tables: ['customers'],
  ddl: `
    create table customers (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      customer_id text not null unique,
      tenant_id text not null,
      subject_id text not null,
      -- What a validate needs of a customer, beside the state so that it need not be taken apart; null for none.
      overrides jsonb,
      created_at timestamptz not null
    );
    create index customers_by_age on customers (tenant_id, created_at desc, customer_id desc);
    create index customers_erased on customers (tenant_id, created_at desc, customer_id desc)
      where state->>'erasedAt' is not null;
    create index customers_of_subject on customers (tenant_id, subject_id)`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
