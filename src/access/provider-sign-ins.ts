import { createHmac } from 'node:crypto'
import type { Pool } from 'pg'
import { sha256 } from '../credentials/sha256.ts'

/** How long a sign-in at a provider may take. */
export const providerSignInMs = 10 * 60_000

/** A sign-in that a browser has begun at a provider. */
export type BegunSignIn = {
  tenantId: string
  providerId: string
  /** The session whose member confirms who they are; null for a sign-in. */
  sessionHash: string | null
  returnTo: string
  begunAt: Date
}

/**
 * What binds an answer of the provider to the request and to the browser. Only the browser has the secret that they follow
 * from, so a copy of the database is no use.
 */
export const boundTo = (browserSecret: string, state: string): { nonce: string; verifier: string } => {
  const derived = (what: string) =>
    createHmac('sha256', browserSecret)
      .update(JSON.stringify([what, state]))
      .digest('base64url')
  return { nonce: derived('nonce'), verifier: derived('code verifier') }
}

export async function keepSignIn(
  db: Pool,
  { state, browserSecret }: { state: string; browserSecret: string },
  { tenantId, providerId, sessionHash, returnTo, begunAt }: BegunSignIn,
): Promise<void> {
  await db.query(
    `insert into vault.provider_sign_ins
       (state_hash, browser_hash, tenant_id, provider_id, session_hash, return_to, begun_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      sha256(state),
      sha256(browserSecret),
      tenantId,
      providerId,
      sessionHash,
      returnTo,
      begunAt,
      new Date(begunAt.getTime() + providerSignInMs),
    ],
  )
}

/**
 * Deletes and returns a sign-in before anything is verified against it: of two requests with one state, in any process, only
 * one gets it. Another browser, tenant or provider does not get it, and does not use it up.
 * @returns undefined when there is none, it was used, or it has expired
 */
export async function takeSignIn(
  db: Pool,
  { state, browserSecret }: { state: string; browserSecret: string },
  { tenantId, providerId }: Pick<BegunSignIn, 'tenantId' | 'providerId'>,
  now: Date,
): Promise<BegunSignIn | undefined> {
  const { rows } = await db.query<
    Pick<BegunSignIn, 'sessionHash' | 'returnTo'> & { begunAt: string; fresh: boolean }
  >(
    `delete from vault.provider_sign_ins
     where state_hash = $1 and browser_hash = $2 and tenant_id = $3 and provider_id = $4
     returning session_hash as "sessionHash", return_to as "returnTo", begun_at::text as "begunAt",
       expires_at > $5 as fresh`,
    [sha256(state), sha256(browserSecret), tenantId, providerId, now],
  )
  const [row] = rows
  if (!row?.fresh) return undefined
  const { sessionHash, returnTo, begunAt } = row
  return { tenantId, providerId, sessionHash, returnTo, begunAt: new Date(begunAt) }
}
