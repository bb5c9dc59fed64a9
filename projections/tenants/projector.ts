import { tenants } from '../../src/domain/tenants/tenant.ts'
import { defineDocuments, evolvedBy, projectorOf } from '../document.ts'

const documents = defineDocuments(evolvedBy(tenants), {
  table: 'tenants',
  begun: (tenant) => (tenant.status === 'absent' ? undefined : tenant),
  columns: {
    tenantId: 'text not null unique',
    status: 'text not null',
    plan: 'text not null',
    createdAt: 'timestamptz not null',
  },
})

export const tenantsProjector = projectorOf(documents)
