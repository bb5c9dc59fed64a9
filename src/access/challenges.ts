import type { Pool } from 'pg'

/** How long a challenge for a passkey is valid. */
const lifetimeMs = 5 * 60_000

/** What a challenge is signed for; a challenge for one purpose is not valid for another. */
export type ChallengePurpose = 'sign in' | 'confirm' | 'new passkey' | `welcome ${string}`

export type ChallengeOf = { sessionHash: string; purpose: ChallengePurpose }

/** Stores a session's challenge for a passkey. An earlier challenge for the same purpose is replaced. */
export async function keepChallenge(
  db: Pool,
  { sessionHash, purpose }: ChallengeOf,
  challenge: string,
  now: Date,
): Promise<void> {
  await db.query(
    `insert into vault.challenges (session_hash, purpose, challenge, expires_at) values ($1, $2, $3, $4)
     on conflict (session_hash, purpose) do update
     set challenge = excluded.challenge, expires_at = excluded.expires_at`,
    [sessionHash, purpose, challenge, new Date(now.getTime() + lifetimeMs)],
  )
}

/**
 * Deletes and returns a challenge before anything is verified against it: of two concurrent requests, in any
 * process, only one gets it.
 * @returns undefined when there is none, it was used, or it has expired
 */
export async function takeChallenge(
  db: Pool,
  { sessionHash, purpose }: ChallengeOf,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await db.query<{ challenge: string; fresh: boolean }>(
    `delete from vault.challenges where session_hash = $1 and purpose = $2
     returning challenge, expires_at > $3 as fresh`,
    [sessionHash, purpose, now],
  )
  return rows[0]?.fresh ? rows[0].challenge : undefined
}
