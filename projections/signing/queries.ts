import type { Pool } from 'pg'
import type { PreparedKey, SigningKey } from '../../src/domain/signing/events.ts'
import {
  type KeyState,
  keyStates,
  type LeaseLength,
  preparedState,
} from '../../src/domain/signing/signing.ts'

/** Every signing key of a tenant, oldest first and a prepared one last, with its state at the time `now`. */
export async function listSigningKeys(db: Pool, tenantId: string, now: string): Promise<KeyState[]> {
  const { rows } = await db.query<PreparedKey & { signsFrom: string | null }>({
    name: 'list-signing-keys',
    text: `select kid, public_key as "publicKey", secret_name as "secretName", signs_from as "signsFrom"
           from signing_keys where tenant_id = $1
           union all
           select kid, public_key, secret_name, null from prepared_signing_keys p
           where tenant_id = $1 and not exists (
             select from signing_keys s where s.tenant_id = p.tenant_id and s.kid = p.kid
           )
           order by "signsFrom" nulls last`,
    values: [tenantId],
  })
  const keys = rows.flatMap(({ signsFrom, ...key }): SigningKey[] =>
    signsFrom === null ? [] : [{ ...key, signsFrom }],
  )
  const prepared = rows.filter(({ signsFrom }) => signsFrom === null).map(preparedState)
  return [...keyStates(keys, await leaseLengths(db, tenantId, keys), now), ...prepared]
}

/** Only the state of a former key depends on lease lengths. */
async function leaseLengths(db: Pool, tenantId: string, keys: readonly SigningKey[]): Promise<LeaseLength[]> {
  if (keys.length < 2) return []
  const { rows } = await db.query<LeaseLength>({
    name: 'lease-lengths',
    text: `select seconds, since as "from",
             lead(since) over (partition by product_id order by revision) as until
           from lease_lengths where tenant_id = $1`,
    values: [tenantId],
  })
  return rows
}
