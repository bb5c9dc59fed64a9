import { isRecord, type Place } from '../keyset.ts'
import { type Lease, type LeaseRefusal, verifyLease } from '../lease.ts'
import { type EntitlementValue, type Terms, verifyTerms } from '../lease2.ts'
import { type Refusal, type RefusalDoubt, verifyRefusal } from '../refusal.ts'
import type { Holder } from '../statement.ts'

/** What a lease of the second version says, with its token, which is verified again after it was stored. */
type LeaseOfToken = Pick<Lease, 'instanceId' | 'issuedAt' | 'expiresAt' | 'status' | 'entitlements'> & {
  token: string
  /** Of the entitlements that are more than flags. */
  values: Readonly<Record<string, EntitlementValue>>
}

/** What the server has signed about the license on this device: the newer of its last lease and its last refusal. */
export type Proof = Lease | LeaseOfToken | Refusal

/** Why something is no proof. After `unknown_key` the keyset is fetched. */
export type Doubt = LeaseRefusal | RefusalDoubt

/**
 * Verifies a lease in either form, or a refusal. Whether a lease is over is decided with the state: one that is over still
 * says that the server was reached.
 * @param value a token; a lease or refusal as the server sends it; or any of them as it was stored
 */
export function verifyProof(
  value: unknown,
  holder: Place & Holder,
  keys: Readonly<Record<string, string>>,
): { proof: Proof } | { doubt: Doubt } {
  const record = isRecord(value) ? value : {}
  const token = record.token ?? value
  if (typeof token === 'string') {
    const found = verifyTerms(token, holder, { keys })
    return found.ok ? { proof: leaseOf(token, found.terms) } : { doubt: found.reason }
  }
  if ('reason' in record) {
    const found = verifyRefusal(value, holder, { keys })
    return found.ok ? { proof: found.refusal } : { doubt: found.reason }
  }
  const found = verifyLease(value, holder, { keys }, 0)
  return found.ok ? { proof: found.lease } : { doubt: found.reason }
}

/** An entitlement that is false is none. */
function leaseOf(
  token: string,
  { instanceId, issuedAt, expiresAt, status, entitlements }: Terms,
): LeaseOfToken {
  const granted = Object.entries(entitlements).filter(([, value]) => value !== false)
  const values = Object.fromEntries(granted.filter(([, value]) => value !== true))
  return {
    token,
    instanceId,
    issuedAt,
    expiresAt,
    status,
    entitlements: granted.map(([name]) => name),
    values,
  }
}
