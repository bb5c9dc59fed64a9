import { isRecord, type Place } from '../keyset.ts'
import { type Lease, type LeaseRefusal, verifyLease } from '../lease.ts'
import { type EntitlementValue, type Lease2, readLease2 } from '../lease2.ts'
import type { TokenDoubt } from '../paseto.ts'
import { type Refusal, type RefusalDoubt, verifyRefusal } from '../refusal.ts'
import type { Holder } from '../statement.ts'

/** What a lease of the second version or a license file says, with its token, which is verified again after it was stored. */
export type LeaseOfToken = Omit<Lease2, 'entitlements'> & {
  token: string
  entitlements: readonly string[]
  /** Of the entitlements that are more than flags. */
  values: Readonly<Record<string, EntitlementValue>>
}

/** What the server has signed about the license on this device: the newer of its last lease and its last refusal. */
export type Proof = Lease | LeaseOfToken | Refusal

/** Why something is no proof. After `unknown_key` the keyset is fetched. */
export type Doubt = LeaseRefusal | RefusalDoubt

/** Whether the server has signed it without a lease: it says why the license refuses the device. */
export const isRefusal = (proof: Proof): proof is Refusal => 'reason' in proof

/**
 * Verifies a lease in either form, or a refusal. Whether a lease is over is decided with the state: one that is over still
 * says that the server was reached. A license file is none: it is taken only by the device that asked for it.
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
    const found = readToken(token, holder, keys)
    if ('doubt' in found) return found
    const { lease } = found
    if (lease.file) return { doubt: 'malformed' }
    if (lease.licenseKeyHash !== holder.licenseKeyHash) return { doubt: 'another_license' }
    return lease.instanceId === holder.instanceId ? { proof: lease } : { doubt: 'another_instance' }
  }
  if ('reason' in record) {
    const found = verifyRefusal(value, holder, { keys })
    return found.ok ? { proof: found.refusal } : { doubt: found.reason }
  }
  const found = verifyLease(value, holder, { keys }, 0)
  return found.ok ? { proof: found.lease } : { doubt: found.reason }
}

/** Verifies only who signed a lease or a license file, and for which product. An entitlement that is false is none. */
export function readToken(
  token: string,
  place: Place,
  keys: Readonly<Record<string, string>>,
): { lease: LeaseOfToken } | { doubt: TokenDoubt } {
  const found = readLease2(token, place, { keys })
  if (!found.ok) return { doubt: found.reason }
  const granted = Object.entries(found.lease.entitlements).filter(([, value]) => value !== false)
  const values = Object.fromEntries(granted.filter(([, value]) => value !== true))
  return { lease: { ...found.lease, token, entitlements: granted.map(([name]) => name), values } }
}
