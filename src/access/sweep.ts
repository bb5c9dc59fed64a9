import type { Pool } from 'pg'
import { customerSessionMs } from './customer-sessions.ts'
import { linkLifetimeMs } from './links.ts'
import { lifetimeMs } from './sessions.ts'

const dayMs = 86_400_000

/** Deletes expired rows; sessions, links and login requests are kept for another day. */
export async function sweep(db: Pool, now: Date): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms - dayMs)
  await db.query('delete from vault.sessions where created_at < $1', [before(lifetimeMs)])
  await db.query('delete from vault.member_links where expires_at < $1', [before(0)])
  await db.query('delete from vault.challenges where expires_at < $1', [now])
  await db.query('delete from vault.known_devices where expires_at < $1', [now])
  await db.query('delete from vault.login_requests where expires_at < $1', [before(0)])
  // A link whose mail is in the mailbox leads the erasure of its person to that mail.
  await db.query('delete from vault.customer_links where expires_at < $1 and mail_id is null', [before(0)])
  await db.query('delete from vault.customer_sessions where created_at < $1', [before(customerSessionMs)])
  await db.query('delete from vault.attempts where full_again_at < $1', [now])
  // TOTP secrets of setups that were never completed.
  await db.query(
    `delete from vault.secrets s where name like 'member-totp.%' and created_at < $1
     and not exists (select from vault.member_credentials c where c.totp_name = s.name)`,
    [before(linkLifetimeMs)],
  )
}
