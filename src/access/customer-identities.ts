import type { Pool } from 'pg'

/** Who a customer is at a provider of OpenID Connect. */
type CustomerIdentity = {
  /** The keyed hash of what the issuer calls the person. */
  identity: string
  tenantId: string
  issuer: string
  /** The organization whose provider it is; null for the provider of all customers. */
  customerId: string | null
  subjectId: string
}

/** The person whom an identity is linked to; undefined also once they were erased. */
export async function findCustomerIdentity(
  db: Pool,
  tenantId: string,
  identity: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ subjectId: string }>(
    `select i.subject_id as "subjectId"
     from vault.customer_identities i join vault.subject_keys k using (tenant_id, subject_id)
     where i.identity = $1 and i.tenant_id = $2`,
    [identity, tenantId],
  )
  return rows[0]?.subjectId
}

/** Whether a person has signed in at such a provider before, with whichever account. */
export async function hasSignedInAt(
  db: Pool,
  { tenantId, issuer, customerId, subjectId }: Omit<CustomerIdentity, 'identity'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from vault.customer_identities
     where tenant_id = $1 and subject_id = $2 and issuer = $3 and customer_id is not distinct from $4 limit 1`,
    [tenantId, subjectId, issuer, customerId],
  )
  return rowCount === 1
}

/**
 * Links an identity for good: of two sign-ins at the same moment, one links it. That of an erased person is replaced.
 * @returns the person whom it is linked to
 */
export async function linkCustomerIdentity(
  db: Pool,
  { identity, tenantId, issuer, customerId, subjectId }: CustomerIdentity,
  now: Date,
): Promise<string | undefined> {
  await db.query(
    `insert into vault.customer_identities as i (identity, tenant_id, issuer, customer_id, subject_id, linked_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (identity) do update set subject_id = excluded.subject_id, linked_at = excluded.linked_at
     where not exists (
       select from vault.subject_keys k where k.tenant_id = i.tenant_id and k.subject_id = i.subject_id
     )`,
    [identity, tenantId, issuer, customerId, subjectId, now],
  )
  return findCustomerIdentity(db, tenantId, identity)
}
