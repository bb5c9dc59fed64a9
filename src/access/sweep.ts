import type { Pool } from 'pg'
import { linkLifetimeMs } from './links.ts'
import { lifetimeMs } from './sessions.ts'

const dayMs = 86_400_000

/** Removes what has run out, a day after nobody can have any use of it. */
export async function sweep(db: Pool, now: Date): Promise<void> {
  const before = (ms: number) => new Date(now.getTime() - ms - dayMs)
  await db.query('delete from vault.sessions where created_at < $1', [before(lifetimeMs)])
  await db.query('delete from vault.member_links where expires_at < $1', [before(0)])
  await db.query('delete from vault.challenges where expires_at < $1', [now])
  await db.query('delete from vault.known_devices where expires_at < $1', [now])
  await db.query('delete from vault.login_requests where expires_at < $1', [before(0)])
  await db.query('delete from vault.attempts where full_again_at < $1', [now])
  // Somebody began to set up an authenticator app and never finished.
  await db.query(
    `delete from vault.secrets s where name like 'member-totp.%' and created_at < $1
     and not exists (select from vault.member_credentials c where c.totp_name = s.name)`,
    [before(linkLifetimeMs)],
  )
}
