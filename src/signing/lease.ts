import { leaseEnd, unixSeconds } from '../domain/licenses/expiry.ts'
import type { Expiry } from '../domain/licenses/grace.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import type { LicenseStatus } from '../domain/licenses/status.ts'
import type { EntitlementValues } from '../domain/products/entitlement-values.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** The contents of a lease for a license on one instance. */
export type LeaseFacts = {
  tenantId: string
  productId: string
  keyHash: string
  instanceId: string
  status: LicenseStatus
  entitlements: readonly string[]
  /** Of those entitlements that have one, by name. Only a lease of the second version has them. */
  values: EntitlementValues
  license: Pick<IssuedLicense, 'onExpiry'> & Expiry
  leaseSeconds: number
}

/** A lease in the format of the API contract, so that an app can store and verify it offline. */
export type Lease = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  expiresAt: number
  status: string
  entitlements: readonly string[]
  signature: string
}

/** Signs a lease. @param now ISO 8601. @throws SigningFailed when the tenant's key cannot be used */
export async function signLease(
  signer: Signer,
  key: ActiveKey,
  facts: LeaseFacts,
  now: string,
): Promise<Lease> {
  const { tenantId, productId, keyHash, instanceId, status } = facts
  const entitlements = facts.entitlements.toSorted()
  const { issued, expires } = leaseTimes(facts, now)
  const text = `lease1|${key.kid}|${tenantId}|${productId}|${keyHash}|${instanceId}|${issued}|${expires}|${status}|${entitlements.join(',')}`
  return {
    kid: key.kid,
    licenseKeyHash: keyHash,
    instanceId,
    issuedAt: issued,
    expiresAt: expires,
    status,
    entitlements,
    signature: await signer.sign(tenantId, key, text),
  }
}

/** From when to when a lease is good, in Unix seconds. */
export const leaseTimes = (
  { license, leaseSeconds }: Pick<LeaseFacts, 'license' | 'leaseSeconds'>,
  now: string,
): { issued: number; expires: number } => ({
  issued: unixSeconds(now),
  expires: leaseEnd(license, leaseSeconds, now),
})
