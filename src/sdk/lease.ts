import { verifyText } from './ed25519.ts'
import { isField, isRecord, isSeconds, type Keyset, keyIn, type Place } from './keyset.ts'

export type Lease = {
  kid: string
  licenseKeyHash: string
  instanceId: string
  issuedAt: number
  expiresAt: number
  /** `active`, `fallback` or `expired`; only `active` grants everything. */
  status: string
  entitlements: readonly string[]
  signature: string
}

/**
 * The expected holder: the hash of the license key by {@link import('./license-key.ts').licenseKeyHash}, and the
 * instance.
 */
export type Holder = { licenseKeyHash: string; instanceId: string }

/**
 * Why a lease must not be used. After `unknown_key`, fetch the keyset again. `over` means genuine but expired:
 * validate again.
 */
export type LeaseRefusal =
  | 'malformed'
  | 'another_license'
  | 'another_instance'
  | 'unknown_key'
  | 'bad_signature'
  | 'over'

const entitlement = /^[a-z0-9][a-z0-9._:-]{0,63}$/

/**
 * Verifies a lease: its key is known, its fields are the signed ones, it was made for this tenant, product, license
 * key and instance, and `now` is not after its end.
 *
 * The lease of a license that has expired without a fallback ends with the license, so it is genuine and `over`.
 * @param now Unix seconds
 */
export function verifyLease(
  value: unknown,
  { tenantId, productId, ...holder }: Place & Holder,
  keyset: Keyset,
  now: number,
): { ok: true; lease: Lease } | { ok: false; reason: LeaseRefusal } {
  const lease = leaseFrom(value)
  if (!lease) return refused('malformed')
  if (lease.licenseKeyHash !== holder.licenseKeyHash) return refused('another_license')
  if (lease.instanceId !== holder.instanceId) return refused('another_instance')
  const publicKey = keyIn(keyset, lease.kid)
  if (publicKey === undefined) return refused('unknown_key')
  const text = [
    'lease1',
    lease.kid,
    tenantId,
    productId,
    lease.licenseKeyHash,
    lease.instanceId,
    lease.issuedAt,
    lease.expiresAt,
    lease.status,
    lease.entitlements.join(','),
  ].join('|')
  if (!verifyText(text, lease.signature, publicKey)) return refused('bad_signature')
  if (now > lease.expiresAt) return refused('over')
  return { ok: true, lease }
}

/** A lease whose fields are unambiguous in the signed string. */
function leaseFrom(value: unknown): Lease | undefined {
  if (!isRecord(value)) return undefined
  const { kid, licenseKeyHash, instanceId, issuedAt, expiresAt, status, entitlements, signature } = value
  if (!isField(kid) || !isField(licenseKeyHash) || !isField(instanceId) || !isField(status)) return undefined
  if (!isSeconds(issuedAt) || !isSeconds(expiresAt) || typeof signature !== 'string') return undefined
  if (!Array.isArray(entitlements) || !entitlements.every(isEntitlement)) return undefined
  return { kid, licenseKeyHash, instanceId, issuedAt, expiresAt, status, entitlements, signature }
}

const isEntitlement = (value: unknown): value is string =>
  typeof value === 'string' && entitlement.test(value)

const refused = (reason: LeaseRefusal): { ok: false; reason: LeaseRefusal } => ({ ok: false, reason })
