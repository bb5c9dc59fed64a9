import type { Pool } from 'pg'

/** A value that is sealed under the key of a person. */
type Sealed = { subjectId: string; email: string | null; name: string | null }

/** Everything that the read models hold of people: as holders, customers, buyers. */
export async function findSealedOf(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
): Promise<Sealed[]> {
  const { rows } = await db.query<Sealed>(
    `select subject_id as "subjectId", email, name from licenses where tenant_id = $1 and subject_id = any($2)
     union all
     select subject_id, state->>'email', state->>'name' from customers
     where tenant_id = $1 and subject_id = any($2)
     union all
     select subject_id, state->'customer'->>'email', state->'customer'->>'name' from sales
     where tenant_id = $1 and subject_id = any($2)`,
    [tenantId, subjectIds],
  )
  return rows
}
