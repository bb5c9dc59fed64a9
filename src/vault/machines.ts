import { createHmac } from 'node:crypto'
import type { TenantKeys } from './tenant-keys.ts'

/** Identifies machines by hashes from apps, without storing which machine it is. */
export type Machines = {
  /** The keyed hash of a machine for one product of one tenant; products cannot compare their hashes. */
  hashOf(tenantId: string, productId: string, machineHash: string): Promise<string>
}

/** @param keys with the tenant's key, machines stay recognizable after a change of the master key */
export function createMachines(keys: TenantKeys): Machines {
  return {
    async hashOf(tenantId, productId, machineHash) {
      return createHmac('sha256', await keys.of(tenantId))
        .update(JSON.stringify([productId, machineHash]))
        .digest('hex')
    },
  }
}
