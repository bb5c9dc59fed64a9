import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** A license that refuses one instance, and why. */
type RefusalFacts = {
  tenantId: string
  productId: string
  keyHash: string
  instanceId: string
  reason: string
}

/** A refusal that an app can tell from a broken answer, and can store. */
export type SignedRefusal = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  reason: string
  signature: string
}

/**
 * Signs that a license refuses an instance. The caller chose the instance id, so one with the separator is not signed:
 * its text could be read as that of another refusal.
 * @param now ISO 8601
 * @throws SigningFailed when the tenant's key cannot be used
 */
export async function signRefusal(
  signer: Signer,
  key: ActiveKey,
  { tenantId, productId, keyHash, instanceId, reason }: RefusalFacts,
  now: string,
): Promise<SignedRefusal | undefined> {
  if (instanceId.includes('|')) return undefined
  const issuedAt = unixSeconds(now)
  const text = `refusal1|${key.kid}|${tenantId}|${productId}|${keyHash}|${instanceId}|${issuedAt}|${reason}`
  const signature = await signer.sign(tenantId, key, text)
  return { kid: key.kid, licenseKeyHash: keyHash, instanceId, issuedAt, reason, signature }
}
