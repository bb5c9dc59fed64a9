import type { ClientBase, Pool } from 'pg'
import { isSecret } from '../credentials/secret.ts'
import { sha256 } from '../credentials/sha256.ts'

/** How long a one-time link is valid (milliseconds). */
export const linkLifetimeMs = 72 * 3_600_000

export type Link = { linkHash: string; memberId: string; tenantId: string; expiresAt: string }

/** Stores a link and deletes the member's earlier unused ones. */
export async function writeLink(
  db: Pool,
  link: { secret: string; memberId: string; tenantId: string; expiresAt: string },
  now: Date,
): Promise<void> {
  const { secret, memberId, tenantId, expiresAt } = link
  await db.query(
    `with earlier as (delete from vault.member_links where member_id = $2 and used_at is null)
     insert into vault.member_links (link_hash, member_id, tenant_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [sha256(secret), memberId, tenantId, now, expiresAt],
  )
}

/** Finds a link that is unused and not expired, without using it up. */
export async function findLink(db: Pool, secret: string, now: Date): Promise<Link | undefined> {
  if (!isSecret(secret)) return undefined
  const { rows } = await db.query<Link>(
    `select link_hash as "linkHash", member_id as "memberId", tenant_id as "tenantId", expires_at as "expiresAt"
     from vault.member_links where link_hash = $1 and used_at is null and expires_at > $2`,
    [sha256(secret), now],
  )
  return rows[0]
}

/** Uses up a link. @returns whether it was still valid; of two concurrent requests only one succeeds */
export async function useLink(db: ClientBase, linkHash: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vault.member_links set used_at = $2 where link_hash = $1 and used_at is null and expires_at > $2`,
    [linkHash, now],
  )
  return rowCount === 1
}

/** The members of a tenant with a valid link. */
export async function membersWithLinks(
  db: Pool,
  tenantId: string,
  now: Date,
): Promise<Map<string, { expiresAt: string }>> {
  const { rows } = await db.query<{ memberId: string; expiresAt: string }>(
    `select member_id as "memberId", expires_at as "expiresAt" from vault.member_links
     where tenant_id = $1 and used_at is null and expires_at > $2`,
    [tenantId, now],
  )
  return new Map(rows.map(({ memberId, expiresAt }) => [memberId, { expiresAt }]))
}
