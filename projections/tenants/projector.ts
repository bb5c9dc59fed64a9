import { type Tenant, tenants } from '../../src/domain/tenants/tenant.ts'
import { applyToDocuments, type DocumentModel, evolvedBy } from '../document.ts'
import type { Projector } from '../projector.ts'

const model: DocumentModel<Tenant> = {
  table: 'tenants',
  ...evolvedBy(tenants),
  columns: (tenant) =>
    tenant.status === 'absent'
      ? {}
      : {
          tenant_id: tenant.tenantId,
          status: tenant.status,
          plan: tenant.plan,
          created_at: tenant.createdAt,
        },
}

export const tenantsProjector: Projector = {
  name: 'tenants',
  tables: ['tenants'],
  ddl: `
    create table tenants (
      stream text primary key,
      revision int not null,
      state jsonb not null,
      tenant_id text not null unique,
      status text not null,
      plan text not null,
      created_at timestamptz not null
    )`,
  apply: (db, entries) => applyToDocuments(db, model, entries),
}
