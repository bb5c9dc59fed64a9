import type { Pool } from 'pg'
import { findProviderOfCustomers } from '../../projections/sign-in-providers.ts'
import { sha256 } from '../credentials/sha256.ts'

/** A customer's session ends after this time without a request, and at this age in any case (milliseconds). */
const idleMs = 60 * 60_000
const lifetimeMs = 12 * 3_600_000

/** How long it stays as the record of a visit (milliseconds), without which support could not say whether a person came in. */
export const visitsKeptMs = 90 * 86_400_000

/** How often the last use of a session is written. */
const seenEveryMs = 60_000

/** The provider that a session begins at; a logout token of the provider names it by these. */
type AtProvider = {
  providerId: string
  /** When the provider was added: another one with its id is not meant. */
  addedAt: string
  identity: string
  sidHash: string | undefined
}

/**
 * Begins a session of a person who has signed in at a provider.
 * @param begun `session`: what the session's cookie will hold
 * @returns false when the person was erased meanwhile
 */
export async function beginSessionAtProvider(
  db: Pool,
  begun: { tenantId: string; subjectId: string; session: string; provider: AtProvider },
  now: Date,
): Promise<boolean> {
  const { tenantId, subjectId, session, provider } = begun
  const { providerId, addedAt, identity, sidHash = null } = provider
  const { rowCount } = await db.query(
    `insert into vault.customer_sessions
       (session_hash, tenant_id, subject_id, created_at, last_seen_at, provider_id, provider_added_at, identity, sid_hash)
     select $1, tenant_id, subject_id, $4, $4, $5, $6, $7, $8
     from vault.subject_keys where tenant_id = $2 and subject_id = $3`,
    [sha256(session), tenantId, subjectId, now, providerId, addedAt, identity, sidHash],
  )
  return rowCount === 1
}

/**
 * The person of a session of a tenant's portal; undefined after it has ended, once the provider that it began at was removed, or
 * once the person was erased: without their key there is nobody to sign in.
 * @param session what the cookie holds
 */
export async function customerOf(
  db: Pool,
  tenantId: string,
  session: string,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await db.query<{
    subjectId: string
    lastSeenAt: string
    providerId: string | null
    addedAt: string | null
  }>({
    name: 'find-customer-session',
    text: `select s.subject_id as "subjectId", s.last_seen_at as "lastSeenAt", s.provider_id as "providerId",
             s.provider_added_at as "addedAt"
           from vault.customer_sessions s join vault.subject_keys k using (tenant_id, subject_id)
           where s.session_hash = $1 and s.tenant_id = $2 and s.ended_at is null
             and s.last_seen_at > $3::timestamptz - interval '${idleMs} ms'
             and s.created_at > $3::timestamptz - interval '${lifetimeMs} ms'`,
    values: [sha256(session), tenantId, now],
  })
  const [found] = rows
  if (!found) return undefined
  const { providerId, addedAt } = found
  if (providerId !== null) {
    const provider = await findProviderOfCustomers(db, tenantId, providerId)
    if (!provider || Date.parse(provider.createdAt) !== Date.parse(addedAt ?? '')) return undefined
  }
  if (Date.parse(found.lastSeenAt) <= now.getTime() - seenEveryMs)
    await db.query({
      name: 'touch-customer-session',
      text: 'update vault.customer_sessions set last_seen_at = $2 where session_hash = $1 and last_seen_at < $2',
      values: [sha256(session), now],
    })
  return found.subjectId
}

/** A stay of a person in the portal. Nothing is known of their network or browser. */
export type PortalVisit = { createdAt: string; lastSeenAt: string; endedAt: string | null }

/** The last sign-ins of people to a tenant's portal, newest first. */
export async function listVisits(
  db: Pool,
  tenantId: string,
  subjectIds: readonly string[],
  limit: number,
): Promise<PortalVisit[]> {
  const { rows } = await db.query<PortalVisit>({
    name: 'list-portal-visits',
    text: `select created_at as "createdAt", last_seen_at as "lastSeenAt", ended_at as "endedAt"
           from vault.customer_sessions where tenant_id = $1 and subject_id = any($2)
           order by created_at desc, session_hash limit $3`,
    values: [tenantId, subjectIds, limit],
  })
  return rows
}

/** Ends a session for good. */
export async function endCustomerSession(db: Pool, session: string, now: Date): Promise<void> {
  await db.query(
    'update vault.customer_sessions set ended_at = $2 where session_hash = $1 and ended_at is null',
    [sha256(session), now],
  )
}
