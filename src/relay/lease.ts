import { type Lease2Facts, lease2Assertion, lease2Claims } from '../signing/lease2.ts'
import type { Certified } from './answer.ts'
import type { RelayKey } from './key.ts'
import type { SeatHeld } from './relay.ts'

/** Who signs a lease, and when (milliseconds, Unix). */
type Signing = { key: RelayKey; certified: Certified; now: number }

/**
 * Signs a lease for a seat, which ends with the seat. The certificate in its footer says what the relay may grant: who verifies it
 * needs the vendor's key alone.
 */
export function leaseOf(
  { key, certified, now }: Signing,
  { seat, seconds }: SeatHeld,
  device: Lease2Facts['device'],
): { lease2: string } {
  const { claims, product, certificate } = certified
  const { tenantId, productId } = product
  const iso = (time: string) => new Date(time).toISOString()
  const facts = {
    tenantId,
    productId,
    keyHash: claims.license_key_hash,
    instanceId: seat.instanceId,
    status: claims.status,
    entitlements: Object.keys(claims.entitlements),
    values: claims.entitlements,
    licenseId: claims.license_id,
    device,
    holder: claims.holder,
    leaseSeconds: seconds,
    license: {
      // The seat ends by the end of the certificate, which is no later than that of the license.
      onExpiry: 'fallback' as const,
      graceSeconds: null,
      expiresAt: claims.license_expires_at === null ? null : iso(claims.license_expires_at),
      updatesUntil: claims.updates_until === undefined ? null : iso(claims.updates_until),
    },
  }
  const signed = lease2Claims(facts, new Date(now).toISOString())
  return { lease2: key.signed(signed, { relay: certificate }, lease2Assertion(product)) }
}
