import type { Pool } from 'pg'
import { customRoles, type KeptRole } from '../src/domain/custom-roles/custom-roles.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(customRoles), {
  table: 'custom_roles',
  begun: ({ tenantId, roles }) => (tenantId === undefined ? undefined : { tenantId, roles }),
  columns: { tenantId: 'text not null unique' },
})

export const customRolesProjector = projectorOf(documents)

/** A tenant's custom roles in the order in which they were added, and the revision of their stream; -1 without any. */
export async function listCustomRoles(
  db: Pool,
  tenantId: string,
): Promise<{ roles: readonly KeptRole[]; revision: number }> {
  const { rows } = await db.query<{ roles: KeptRole[]; revision: number }>({
    name: 'custom-roles',
    text: `select state->'roles' as roles, revision from custom_roles where tenant_id = $1`,
    values: [tenantId],
  })
  return rows[0] ?? { roles: [], revision: -1 }
}

/** The role of the member `m` as JSON, a `HeldRole`: a custom one as it is now, or its id alone once it is gone. */
export const heldRole = `case when starts_with(m.role, 'rol_') then coalesce(
    (select c.role from custom_roles k, jsonb_array_elements(k.state->'roles') c(role)
     where k.tenant_id = m.tenant_id and c.role->>'roleId' = m.role),
    to_jsonb(m.role)
  ) else to_jsonb(m.role) end`

/** The stream of the custom role of the member `m`; null for a built-in role. */
export const streamOfRole = `case when starts_with(m.role, 'rol_') then 'role-' || m.tenant_id end`
