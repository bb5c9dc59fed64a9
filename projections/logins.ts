import type { Pool } from 'pg'
import { type Login, logins } from '../src/domain/logins/login.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(logins), {
  table: 'logins',
  begun: (login) => (login.status === 'pending' ? undefined : login),
  columns: {
    tenantId: 'text not null',
  },
})

export const loginsProjector = projectorOf(documents)

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
