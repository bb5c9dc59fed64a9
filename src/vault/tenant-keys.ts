import { createSecretKey, type KeyObject } from 'node:crypto'
import type { RandomBytes } from '../credentials/random.ts'
import type { Secrets } from './secrets.ts'

/** A random key of each tenant for one purpose. */
export type TenantKeys = {
  /** The key, if this process has read it before. */
  known(tenantId: string): KeyObject | undefined
  /** The key, made when there is none. Call it only for a tenant that exists: the key is kept for ever. */
  of(tenantId: string): Promise<KeyObject>
}

/**
 * Keys in the vault, wrapped by the master key instead of derived from it, so that they stay what they are after a change of
 * the master key. Of processes that make one at the same time, all get the same. A key never changes, so a process reads it
 * once.
 * @param name the name of the secret, the same for every tenant
 */
export function createTenantKeys(secrets: Secrets, name: string, randomBytes: RandomBytes): TenantKeys {
  const keys = new Map<string, KeyObject>()
  const reading = new Map<string, Promise<KeyObject>>()

  async function read(tenantId: string): Promise<KeyObject> {
    const fresh = Buffer.from(randomBytes(32)).toString('base64')
    const key = createSecretKey(await secrets.keep(tenantId, name, fresh), 'base64')
    keys.set(tenantId, key)
    return key
  }

  return {
    known: (tenantId) => keys.get(tenantId),
    async of(tenantId) {
      const known = keys.get(tenantId)
      if (known) return known
      const waiting = reading.get(tenantId) ?? read(tenantId).finally(() => reading.delete(tenantId))
      reading.set(tenantId, waiting)
      return waiting
    },
  }
}
