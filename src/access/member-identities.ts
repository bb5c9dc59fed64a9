import type { Pool } from 'pg'

/** Who a member is at a provider of OpenID Connect; `identity` is the keyed hash of what its issuer calls them. */
type Identity = { identity: string; memberId: string; tenantId: string; issuer: string }

export async function findIdentity(db: Pool, identity: string): Promise<string | undefined> {
  const { rows } = await db.query<{ memberId: string }>(
    'select member_id as "memberId" from vault.member_identities where identity = $1',
    [identity],
  )
  return rows[0]?.memberId
}

/** @returns false when the identity is another member's, or the member has another one at this issuer */
export async function linkIdentity(
  db: Pool,
  { identity, memberId, tenantId, issuer }: Identity,
  now: Date,
): Promise<boolean> {
  await db.query(
    `insert into vault.member_identities (identity, member_id, tenant_id, issuer, linked_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [identity, memberId, tenantId, issuer, now],
  )
  return (await findIdentity(db, identity)) === memberId
}

/** Forgets an identity whose member was removed. */
export async function deleteIdentity(db: Pool, identity: string): Promise<void> {
  await db.query('delete from vault.member_identities where identity = $1', [identity])
}
