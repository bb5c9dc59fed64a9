import type { Pool } from 'pg'
import { noScim, type Scim, scims } from '../src/domain/scim/scim.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(scims), {
  table: 'scim',
  begun: ({ tenantId, ...scim }) => (tenantId === undefined ? undefined : { tenantId, ...scim }),
  columns: { tenantId: 'text not null unique' },
})

export const scimProjector = projectorOf(documents)

/** What a tenant knows of its directory, and the revision of its stream; -1 without any. */
export async function readScim(db: Pool, tenantId: string): Promise<{ scim: Scim; revision: number }> {
  const { rows } = await db.query<{ scim: Scim; revision: number }>({
    name: 'scim',
    text: 'select state as scim, revision from scim where tenant_id = $1',
    values: [tenantId],
  })
  return rows[0] ?? { scim: noScim, revision: -1 }
}
