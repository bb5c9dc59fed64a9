import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { RandomBytes } from '../credentials/random.ts'
import type { Secrets } from './secrets.ts'

/** Identifies machines by hashes from apps, without storing which machine it is. */
export type Machines = {
  /** The keyed hash of a machine for one product of one tenant; products cannot compare their hashes. */
  hashOf(tenantId: string, productId: string, machineHash: string): Promise<string>
}

const secretName = 'machines'

/**
 * Each tenant has a random key in the vault. It is wrapped by the master key instead of derived from it, so
 * that machines stay recognizable after a change of the master key. It never changes, so it is read once.
 */
export function createMachines(secrets: Secrets, randomBytes: RandomBytes): Machines {
  const keys = new Map<string, Promise<KeyObject>>()

  function keyOf(tenantId: string): Promise<KeyObject> {
    const known = keys.get(tenantId)
    if (known) return known
    const key = loadOrCreateKey(tenantId)
    keys.set(tenantId, key)
    key.catch(() => keys.delete(tenantId))
    return key
  }

  async function loadOrCreateKey(tenantId: string): Promise<KeyObject> {
    const fresh = Buffer.from(randomBytes(32)).toString('base64')
    return createSecretKey(await secrets.keep(tenantId, secretName, fresh), 'base64')
  }

  return {
    async hashOf(tenantId, productId, machineHash) {
      return createHmac('sha256', await keyOf(tenantId))
        .update(JSON.stringify([productId, machineHash]))
        .digest('hex')
    },
  }
}
