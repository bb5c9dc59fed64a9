import type { ClientBase, Pool } from 'pg'

/** A session ends when nothing has been asked for this long, */
const idleMs = 8 * 3_600_000
/** when it is this old, whatever is asked, */
export const lifetimeMs = 72 * 3_600_000
/** and, as long as nobody has signed in with it, much sooner. */
const anonymousMs = 15 * 60_000

/** How often a session that is in use says so. */
const seenEveryMs = 60_000

/** How many wrong codes of programs one session may enter. */
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

/** What a session holds; undefined once it has ended. */
export async function findSession(db: Pool, sessionHash: string, now: Date): Promise<unknown> {
  const { rows } = await db.query<{ data: unknown }>({
    name: 'find-session',
    text: `select data from vault.sessions where session_hash = $1 and ${isActive}`,
    values: [sessionHash, now],
  })
  return rows[0]?.data
}

/** Notes that a session is in use, so that it does not end as an idle one. */
export async function touchSession(db: Pool, sessionHash: string, now: Date): Promise<void> {
  await db.query({
    name: 'touch-session',
    text: `update vault.sessions set last_seen_at = $2
           where session_hash = $1 and last_seen_at <= $2::timestamptz - interval '${seenEveryMs} ms'`,
    values: [sessionHash, now],
  })
}

/** Makes or changes a session. One that has ended stays ended. */
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

/** Ends one session if it is this member's. @returns whether there was one */
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

/** Ends every session of a member, but for one. No browser is known as theirs any more. */
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

/** Those that have not ended, the last used first. */
export async function listSessionsOf(db: Pool, memberId: string, now: Date): Promise<ListedSession[]> {
  const { rows } = await db.query<ListedSession>(
    `select session_hash as "sessionHash", data, created_at as "createdAt", last_seen_at as "lastSeenAt"
     from vault.sessions where member_id = $1 and ${isActive} order by last_seen_at desc, session_hash`,
    [memberId, now],
  )
  return rows
}

export type SignedIn = ListedSession & { memberId: string; endedAt: string | null }

/** Who has signed in to a tenant lately, the last one first; where from is forgotten when a session ends. */
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
 * Takes one of the tries that a session has at entering a program's code, before the code is looked up, so that many
 * at once are no more tries.
 * @returns false when there is none left
 */
export async function takeCodeAttempt(db: Pool, sessionHash: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'update vault.sessions set wrong_codes = wrong_codes + 1 where session_hash = $1 and wrong_codes < $2',
    [sessionHash, maxWrongCodes],
  )
  return rowCount === 1
}

/** A right code costs none. */
export async function returnCodeAttempt(db: Pool, sessionHash: string): Promise<void> {
  await db.query('update vault.sessions set wrong_codes = wrong_codes - 1 where session_hash = $1', [
    sessionHash,
  ])
}
