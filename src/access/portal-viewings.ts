import type { Pool } from 'pg'
import { isSecret } from '../credentials/secret.ts'
import { sha256 } from '../credentials/sha256.ts'
import { may } from '../domain/members/roles.ts'
import { memberIn, memberOfSession } from './member-sessions.ts'
import { findSession } from './sessions.ts'

/** How long a member sees the portal as a customer does (milliseconds). */
export const viewingMs = 15 * 60_000

/** The dashboard redirects to the link, so it is good for as long as a slow network takes (milliseconds). */
const linkMs = 60_000

export type NewViewing = {
  /** The secret in the link. */
  link: string
  tenantId: string
  memberId: string
  /** The member's session of the dashboard. */
  sessionHash: string
  customerId: string
  subjectId: string
}

/** Stores the link of a viewing, and ends the earlier viewings of the member's session. */
export async function writeViewing(db: Pool, viewing: NewViewing, now: Date): Promise<void> {
  const { link, tenantId, memberId, sessionHash, customerId, subjectId } = viewing
  await db.query(
    `with earlier as (
       update vault.portal_viewings set ended_at = $7 where session_hash = $4 and ended_at is null
     )
     insert into vault.portal_viewings
       (link_hash, tenant_id, member_id, session_hash, customer_id, subject_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [sha256(link), tenantId, memberId, sessionHash, customerId, subjectId, now],
  )
}

/**
 * Uses up the link of a viewing; of two concurrent requests only one succeeds.
 * @param viewing what the cookie will hold
 * @returns whether the link was still valid
 */
export async function openViewing(
  db: Pool,
  { link, tenantId, viewing }: { link: string; tenantId: string; viewing: string },
  now: Date,
): Promise<boolean> {
  if (!isSecret(link)) return false
  const { rowCount } = await db.query(
    `update vault.portal_viewings set viewing_hash = $3
     where link_hash = $1 and tenant_id = $2 and viewing_hash is null and ended_at is null
       and created_at > $4::timestamptz - interval '${linkMs} ms'`,
    [sha256(link), tenantId, sha256(viewing), now],
  )
  return rowCount === 1
}

export type Viewing = { memberId: string; customerId: string; subjectId: string; endsAt: Date }

/**
 * The viewing of a cookie. It ends with the session of its member, with the member, and with the person's data.
 * @returns undefined for one that is over, just as for one that never was
 */
export async function findViewing(
  db: Pool,
  tenantId: string,
  viewing: string,
  now: Date,
): Promise<Viewing | undefined> {
  if (!isSecret(viewing)) return undefined
  const { rows } = await db.query<Omit<Viewing, 'endsAt'> & { sessionHash: string; createdAt: string }>({
    name: 'find-portal-viewing',
    text: `select v.member_id as "memberId", v.customer_id as "customerId", v.subject_id as "subjectId",
             v.session_hash as "sessionHash", v.created_at as "createdAt"
           from vault.portal_viewings v join vault.subject_keys k using (tenant_id, subject_id)
           where v.viewing_hash = $1 and v.tenant_id = $2 and v.ended_at is null
             and v.created_at > $3::timestamptz - interval '${viewingMs} ms'`,
    values: [sha256(viewing), tenantId, now],
  })
  const [found] = rows
  if (!found) return undefined
  const { sessionHash, createdAt, ...rest } = found
  const session = memberIn(await findSession(db, sessionHash, now))
  const known = session?.memberId === found.memberId ? await memberOfSession(db, session) : undefined
  if (!known || !may(known.role, 'view_as_customer')) return undefined
  return { ...rest, endsAt: new Date(Date.parse(createdAt) + viewingMs) }
}

/** Ends a viewing for good. @returns its customer; undefined for a viewing that is not known */
export async function endViewing(
  db: Pool,
  tenantId: string,
  viewing: string,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await db.query<{ customerId: string }>(
    `update vault.portal_viewings set ended_at = coalesce(ended_at, $3)
     where viewing_hash = $1 and tenant_id = $2 returning customer_id as "customerId"`,
    [sha256(viewing), tenantId, now],
  )
  return rows[0]?.customerId
}
