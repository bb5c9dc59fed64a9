import type { ClientBase, Pool } from 'pg'
import { visitsKeptMs } from './customer-sessions.ts'
import { linkLifetimeMs } from './links.ts'

/** A session ends after this time without a request, */
const idleMs = 8 * 3_600_000
/** at this age in any case, */
const lifetimeMs = 72 * 3_600_000
/** and at this age when no member has signed in with it (milliseconds). */
const anonymousMs = 15 * 60_000

/** How often the last use of a session is written. */
const seenEveryMs = 60_000

/** How many wrong user codes a session may enter. */
export const maxWrongCodes = 5

type Owner = { memberId: string | null; tenantId: string | null }

export type ListedSession = {
  sessionHash: string
  data: unknown
  createdAt: string
  lastSeenAt: string
}

const isActive = `ended_at is null and last_seen_at > $2::timestamptz - interval '${idleMs} ms'
  and created_at > $2::timestamptz - case when member_id is null then interval '${anonymousMs} ms'
    else interval '${lifetimeMs} ms' end`

/** The data of a session; undefined after it has ended. */
export async function findSession(db: Pool, sessionHash: string, now: Date): Promise<unknown> {
  const { rows } = await db.query<{ data: unknown }>({
    name: 'find-session',
    text: `select data from vault.sessions where session_hash = $1 and ${isActive}`,
    values: [sessionHash, now],
  })
  return rows[0]?.data
}

/** Records that a session is in use, so that it does not end as idle. */
export async function touchSession(db: Pool, sessionHash: string, now: Date): Promise<void> {
  await db.query({
    name: 'touch-session',
    text: `update vault.sessions set last_seen_at = $2
           where session_hash = $1 and last_seen_at <= $2::timestamptz - interval '${seenEveryMs} ms'`,
    values: [sessionHash, now],
  })
}

/** Creates or updates a session. An ended session stays ended. */
export async function saveSession(
  db: Pool,
  sessionHash: string,
  { memberId, tenantId }: Owner,
  data: unknown,
  now: Date,
): Promise<void> {
  await db.query(
    `insert into vault.sessions as s
       (session_hash, member_id, tenant_id, data, created_at, last_seen_at)
     values ($1, $2, $3, $4, $5, $5)
     on conflict (session_hash) do update
     set member_id = excluded.member_id, tenant_id = excluded.tenant_id, data = excluded.data
     where s.ended_at is null`,
    [sessionHash, memberId, tenantId, JSON.stringify(data), now],
  )
}

export async function endSession(db: Pool, sessionHash: string, now: Date): Promise<void> {
  await db.query(
    `update vault.sessions set ended_at = $2, data = '{}' where session_hash = $1 and ended_at is null`,
    [sessionHash, now],
  )
}

/** Ends a session of this member. @returns whether there was one */
export async function endSessionOf(
  db: Pool,
  memberId: string,
  sessionHash: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vault.sessions set ended_at = $3, data = '{}'
     where session_hash = $1 and member_id = $2 and ended_at is null`,
    [sessionHash, memberId, now],
  )
  return rowCount === 1
}

/** Ends all sessions of a member except one, and forgets the member's known browsers. */
export async function endSessionsOf(
  db: Pool | ClientBase,
  memberId: string,
  now: Date,
  except = '',
): Promise<void> {
  await db.query(
    `with forgotten as (delete from vault.known_devices where member_id = $1)
     update vault.sessions set ended_at = $2, data = '{}'
     where member_id = $1 and ended_at is null and session_hash <> $3`,
    [memberId, now, except],
  )
}

/** Sessions that a provider ends: those of an identity, of a session at the provider, or of both. */
type AtProvider = {
  tenantId: string
  providerId: string
  identity: string | undefined
  sidHash: string | undefined
}

/**
 * Ends the sessions of members or customers that a logout token names, and remembers the token in the same transaction.
 * @param token its hash, and until when it has to be remembered
 * @returns how many sessions ended; undefined for a token that was used before
 */
export async function endSessionsAt(
  db: ClientBase,
  { tenantId, providerId, identity, sidHash }: AtProvider,
  token: { hash: string; until: Date },
  now: Date,
): Promise<number | undefined> {
  const { rowCount: isNew } = await db.query(
    'insert into vault.logout_tokens (token_hash, expires_at) values ($1, $2) on conflict do nothing',
    [token.hash, token.until],
  )
  if (isNew !== 1) return undefined
  const named = [tenantId, providerId, identity ?? null, sidHash ?? null, now]
  const { rowCount: ofMembers } = await db.query(
    `update vault.sessions set ended_at = $5, data = '{}'
     where tenant_id = $1 and ended_at is null and data->'member'->'provider'->>'providerId' = $2
       and ($3::text is null or data->'member'->'provider'->>'identity' = $3)
       and ($4::text is null or data->'member'->'provider'->>'sidHash' = $4)`,
    named,
  )
  const { rowCount: ofCustomers } = await db.query(
    `update vault.customer_sessions set ended_at = $5
     where tenant_id = $1 and ended_at is null and provider_id = $2
       and ($3::text is null or identity = $3) and ($4::text is null or sid_hash = $4)`,
    named,
  )
  return (ofMembers ?? 0) + (ofCustomers ?? 0)
}

/** A member's active sessions, the last used first. */
export async function listSessionsOf(db: Pool, memberId: string, now: Date): Promise<ListedSession[]> {
  const { rows } = await db.query<ListedSession>(
    `select session_hash as "sessionHash", data, created_at as "createdAt", last_seen_at as "lastSeenAt"
     from vault.sessions where member_id = $1 and ${isActive} order by last_seen_at desc, session_hash`,
    [memberId, now],
  )
  return rows
}

export type SignedIn = ListedSession & { memberId: string; endedAt: string | null }

/** Recent sign-ins to a tenant, newest first; a session's origin is deleted when it ends. */
export async function listSignIns(db: Pool, tenantId: string, limit: number): Promise<SignedIn[]> {
  const { rows } = await db.query<SignedIn>(
    `select session_hash as "sessionHash", member_id as "memberId", data, created_at as "createdAt",
       last_seen_at as "lastSeenAt", ended_at as "endedAt"
     from vault.sessions where tenant_id = $1 and member_id is not null
     order by created_at desc, session_hash limit $2`,
    [tenantId, limit],
  )
  return rows
}

/**
 * Takes one of a session's attempts to enter a user code, before the code is looked up, so that concurrent
 * requests get no extra attempts.
 * @returns false when there is none left
 */
export async function takeCodeAttempt(db: Pool, sessionHash: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update vault.sessions set wrong_codes = wrong_codes + 1 where session_hash = $1 and wrong_codes < $2',
    [sessionHash, maxWrongCodes],
  )
  return rowCount === 1
}

/** Returns an attempt after a correct code. */
export async function returnCodeAttempt(db: Pool, sessionHash: string): Promise<void> {
  await db.query('update vault.sessions set wrong_codes = wrong_codes - 1 where session_hash = $1', [
    sessionHash,
  ])
}

const dayMs = 86_400_000

/** Deletes expired rows; sessions, links, viewings and login requests are kept for another day, and visits of the portal longer. */
export async function sweep(db: Pool, now: Date): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms - dayMs)
  await db.query('delete from vault.sessions where created_at < $1', [before(lifetimeMs)])
  await db.query('delete from vault.member_links where expires_at < $1', [before(0)])
  await db.query('delete from vault.challenges where expires_at < $1', [now])
  await db.query('delete from vault.provider_sign_ins where expires_at < $1', [now])
  await db.query('delete from vault.logout_tokens where expires_at < $1', [now])
  await db.query('delete from vault.known_devices where expires_at < $1', [now])
  await db.query('delete from vault.login_requests where expires_at < $1', [before(0)])
  await db.query('delete from vault.browser_activations where expires_at < $1', [now])
  // A link whose mail is in the mailbox leads the erasure of its person to that mail.
  await db.query('delete from vault.customer_links where expires_at < $1 and mail_id is null', [before(0)])
  await db.query('delete from vault.customer_sessions where created_at < $1', [before(visitsKeptMs)])
  await db.query('delete from vault.portal_viewings where created_at < $1', [before(0)])
  await db.query('delete from vault.attempts where full_again_at < $1', [now])
  // What sessions keep to end at a provider, too.
  await db.query(`delete from vault.secrets where name like 'provider-session.%' and created_at < $1`, [
    before(lifetimeMs),
  ])
  // TOTP secrets of setups that were never completed.
  await db.query(
    `delete from vault.secrets s where name like 'member-totp.%' and created_at < $1
     and not exists (select from vault.member_credentials c where c.totp_name = s.name)`,
    [before(linkLifetimeMs)],
  )
}
