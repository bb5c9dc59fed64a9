import { hkdfSync } from 'node:crypto'
import { type LicenseKey, newLicenseKey } from '../credentials/license-key.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** A person's key for one license; `keyId` tells it from their keys before and after it. */
type PersonalKeyName = { tenantId: string; licenseId: string; personId: string; keyId: string }

/**
 * The keys of people who have seats of a license. Their text is kept nowhere: it is derived again whenever the person wants to see it,
 * and is as hard to guess as any other key.
 */
export type PersonalKeys = {
  /** @param prefix of the product when the key was made */
  of(name: PersonalKeyName, prefix: string): Promise<LicenseKey>
}

/** @param keys the secrets of the tenants that personal keys are derived from, with HKDF-SHA-256 (RFC 5869) */
export const createPersonalKeys = (keys: TenantKeys): PersonalKeys => ({
  async of({ tenantId, licenseId, personId, keyId }, prefix) {
    const secret = await keys.of(tenantId)
    const name = JSON.stringify([licenseId, personId, keyId])
    return newLicenseKey(prefix, (size) => new Uint8Array(hkdfSync('sha256', secret, '', name, size)))
  },
})
