import type { Pool } from 'pg'
import { isSecret } from '../credentials/secret.ts'
import { sha256 } from '../credentials/sha256.ts'

/** How long a customer's link is valid (milliseconds). */
export const customerLinkMs = 15 * 60_000

type NewLink = {
  secret: string
  tenantId: string
  /** The person; null for an address that no license belongs to. Such a link signs nobody in. */
  subjectId: string | null
  /** What the cookie of the browser holds that asked for the link. */
  browser: string
  /** The mail in the mailbox, where no mail server is set up. */
  mailId: string | null
}

/** Stores a link; earlier ones stay valid, since anybody may ask for a link to somebody's address. */
export async function writeCustomerLink(db: Pool, link: NewLink, now: Date): Promise<void> {
  const { secret, tenantId, subjectId, browser, mailId } = link
  await db.query({
    name: 'write-customer-link',
    text: `insert into vault.customer_links
             (link_hash, tenant_id, subject_id, browser_hash, created_at, expires_at, mail_id)
           values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      sha256(secret),
      tenantId,
      subjectId,
      sha256(browser),
      now,
      new Date(now.getTime() + customerLinkMs),
      mailId,
    ],
  })
}

/** What a browser may do with a link. */
export type LinkState = 'usable' | 'other browser' | 'expired'

/** Looks at a link without using it up. A link of another tenant counts as expired, as one that never was. */
export async function customerLinkState(
  db: Pool,
  { secret, tenantId, browser }: { secret: string; tenantId: string; browser: string | undefined },
  now: Date,
): Promise<LinkState> {
  if (!isSecret(secret)) return 'expired'
  const { rows } = await db.query<{ browserHash: string }>({
    name: 'find-customer-link',
    text: `select browser_hash as "browserHash" from vault.customer_links
           where link_hash = $1 and tenant_id = $2 and used_at is null and expires_at > $3 and subject_id is not null`,
    values: [sha256(secret), tenantId, now],
  })
  const [link] = rows
  if (!link) return 'expired'
  return browser !== undefined && sha256(browser) === link.browserHash ? 'usable' : 'other browser'
}

/**
 * Uses up a link in the browser that asked for it, and begins a session; of two concurrent requests only one succeeds.
 * @param session what the session's cookie will hold
 * @returns whether it was still valid
 */
export async function signInWithLink(
  db: Pool,
  link: { secret: string; tenantId: string; browser: string; session: string },
  now: Date,
): Promise<boolean> {
  const { secret, tenantId, browser, session } = link
  if (!isSecret(secret)) return false
  const { rowCount } = await db.query({
    name: 'use-customer-link',
    text: `with used as (
             update vault.customer_links set used_at = $4
             where link_hash = $1 and tenant_id = $2 and browser_hash = $3 and used_at is null and expires_at > $4
               and subject_id is not null
             returning tenant_id, subject_id
           )
           insert into vault.customer_sessions (session_hash, tenant_id, subject_id, created_at, last_seen_at)
           select $5, tenant_id, subject_id, $4, $4 from used`,
    values: [sha256(secret), tenantId, sha256(browser), now, sha256(session)],
  })
  return rowCount === 1
}

/** Whether a link still stands: an erasure may have removed it while its mail was written. */
export async function hasCustomerLink(db: Pool, secret: string): Promise<boolean> {
  const { rowCount } = await db.query('select from vault.customer_links where link_hash = $1', [
    sha256(secret),
  ])
  return rowCount === 1
}

/** The mails with links to a person that are in the mailbox. */
export async function linkMailsOf(db: Pool, tenantId: string, subjectId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select mail_id as id from vault.customer_links
     where tenant_id = $1 and subject_id = $2 and mail_id is not null`,
    [tenantId, subjectId],
  )
  return rows.map(({ id }) => id)
}
