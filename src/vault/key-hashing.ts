import { createHmac, type KeyObject } from 'node:crypto'
import { readKey, type TypedKey } from '../credentials/license-key.ts'
import { type KeyHashes, keyedHashFrom } from '../domain/licenses/keys.ts'
import type { TenantKeys } from './tenant-keys.ts'

/**
 * The hashes of license keys. The hash of a key that is not of keyledger's own format is keyed with a secret of the tenant:
 * such a key may have six digits, and from its SHA-256 the key is computed in a second.
 */
export type KeyHashing = {
  /** The hashes to look up, at once; undefined as long as this process has not read the tenant's secret. */
  hashesNow(tenantId: string | undefined, key: TypedKey): KeyHashes | undefined
  /** The same, reading the tenant's secret when needed. Only for a tenant that exists. */
  hashesOf(tenantId: string, key: TypedKey): Promise<KeyHashes>
  /** The hash under which a license records its key, for many keys of a tenant. */
  openStored(tenantId: string): Promise<(key: TypedKey) => string>
  /** Whether a key is the one that a license has stored under this hash. */
  isOf(tenantId: string, licenseKey: string, stored: string): Promise<boolean>
}

/** The name of the secret that keys are hashed with. */
export const keyHashSecret = 'key-hashes'

export function createKeyHashing(keys: TenantKeys): KeyHashing {
  async function hashesOf(tenantId: string, key: TypedKey): Promise<KeyHashes> {
    return key.isOwn ? onlyPlain(key) : hashesWith(await keys.of(tenantId), key)
  }
  return {
    hashesNow(tenantId, key) {
      if (key.isOwn) return onlyPlain(key)
      const secret = tenantId === undefined ? undefined : keys.known(tenantId)
      return secret && hashesWith(secret, key)
    },
    hashesOf,
    async openStored(tenantId) {
      const secret = await keys.of(tenantId)
      return (key) => storedOf(key.isOwn ? onlyPlain(key) : hashesWith(secret, key))
    },
    async isOf(tenantId, licenseKey, stored) {
      const key = readKey(licenseKey)
      if (!key) return false
      const { keyHash, keyedHash } = await hashesOf(tenantId, key)
      return stored === keyHash || stored === keyedHash
    },
  }
}

/** The hash of a key as leases have it, alone: of a key of our own format, or of any key before the tenant is known. */
export const onlyPlain = ({ keyHash }: TypedKey): KeyHashes => ({ keyHash, keyedHash: null })

const storedOf = ({ keyHash, keyedHash }: KeyHashes): string => keyedHash ?? keyHash

const hashesWith = (secret: KeyObject, { keyHash }: TypedKey): KeyHashes => ({
  keyHash,
  keyedHash: keyedHashFrom(createHmac('sha256', secret).update(keyHash).digest('hex')),
})
