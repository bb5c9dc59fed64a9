import type { Pool } from 'pg'
import type { SigningKey } from '../../src/domain/signing/events.ts'
import { type KeyState, keyStates, type LeaseLength } from '../../src/domain/signing/signing.ts'

/** Every signing key of a tenant, oldest first, with its state at the time `now`. */
export async function listSigningKeys(db: Pool, tenantId: string, now: string): Promise<KeyState[]> {
  const keys = await db.query<SigningKey>({
    name: 'list-signing-keys',
    text: `select kid, public_key as "publicKey", secret_name as "secretName", signs_from as "signsFrom"
           from signing_keys where tenant_id = $1 order by signs_from`,
    values: [tenantId],
  })
  // Only the state of a former key depends on lease lengths.
  if (keys.rows.length < 2) return keyStates(keys.rows, [], now)
  const lengths = await db.query<LeaseLength>({
    name: 'lease-lengths',
    text: `select seconds, since as "from",
             lead(since) over (partition by product_id order by revision) as until
           from lease_lengths where tenant_id = $1`,
    values: [tenantId],
  })
  return keyStates(keys.rows, lengths.rows, now)
}
