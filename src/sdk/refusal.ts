import { verifyText } from './ed25519.ts'
import { isField, isRecord, isSeconds, type Keyset, keyIn, type Place } from './keyset.ts'
import type { Holder } from './lease.ts'

/** A license that refuses this instance: the proof beside a refused validate. */
export type Refusal = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  /** `revoked`, `reminted` or `inactive`: the device was deactivated. */
  reason: string
  signature: string
}

/** Why a refusal must not be believed. After `unknown_key`, fetch the keyset again. */
export type RefusalDoubt =
  | 'malformed'
  | 'another_license'
  | 'another_instance'
  | 'unknown_key'
  | 'bad_signature'

/**
 * Verifies a refusal: its key is known, its fields are the signed ones, and it was made for this tenant, product,
 * license key and instance. It has no end: a newer lease replaces it.
 */
export function verifyRefusal(
  value: unknown,
  { tenantId, productId, ...holder }: Place & Holder,
  keyset: Keyset,
): { ok: true; refusal: Refusal } | { ok: false; reason: RefusalDoubt } {
  const refusal = refusalFrom(value)
  if (!refusal) return { ok: false, reason: 'malformed' }
  const { kid, licenseKeyHash, instanceId, issuedAt, reason, signature } = refusal
  if (licenseKeyHash !== holder.licenseKeyHash) return { ok: false, reason: 'another_license' }
  if (instanceId !== holder.instanceId) return { ok: false, reason: 'another_instance' }
  const publicKey = keyIn(keyset, kid)
  if (publicKey === undefined) return { ok: false, reason: 'unknown_key' }
  const text = `refusal1|${kid}|${tenantId}|${productId}|${licenseKeyHash}|${instanceId}|${issuedAt}|${reason}`
  if (!verifyText(text, signature, publicKey)) return { ok: false, reason: 'bad_signature' }
  return { ok: true, refusal }
}

function refusalFrom(value: unknown): Refusal | undefined {
  if (!isRecord(value)) return undefined
  const { kid, licenseKeyHash, instanceId, issuedAt, reason, signature } = value
  if (!isField(kid) || !isField(licenseKeyHash) || !isField(instanceId) || !isField(reason)) return undefined
  if (!isSeconds(issuedAt) || typeof signature !== 'string') return undefined
  return { kid, licenseKeyHash, instanceId, issuedAt, reason, signature }
}
