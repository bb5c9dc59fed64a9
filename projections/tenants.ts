import type { Pool } from 'pg'
import { type Tenant, tenants } from '../src/domain/tenants/tenant.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

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

export type PresentTenant = Extract<Tenant, { tenantId: string }>

export async function findTenant(db: Pool, tenantId: string): Promise<PresentTenant | undefined> {
  const { rows } = await db.query<{ state: PresentTenant }>({
    name: 'find-tenant',
    text: 'select state from tenants where tenant_id = $1',
    values: [tenantId],
  })
  return rows[0]?.state
}

/** Oldest first. */
export async function listTenants(db: Pool): Promise<PresentTenant[]> {
  const { rows } = await db.query<{ state: PresentTenant }>(
    'select state from tenants order by created_at, tenant_id',
  )
  return rows.map(({ state }) => state)
}
