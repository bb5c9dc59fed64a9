import type { Pool } from 'pg'
import type { Login } from '../../src/domain/logins/login.ts'

export type DecidedLogin = Exclude<Login, { status: 'pending' }>

/** The decision on a device authorization, by the hash of its device code; undefined while it is pending. */
export async function findLogin(db: Pool, deviceCodeHash: string): Promise<DecidedLogin | undefined> {
  const { rows } = await db.query<{ state: DecidedLogin }>({
    name: 'find-login',
    text: "select state from logins where stream = 'login-' || $1::text",
    values: [deviceCodeHash],
  })
  return rows[0]?.state
}
