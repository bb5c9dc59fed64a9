import type { Pool } from 'pg'
import { Gauge, type Registry } from 'prom-client'
import { readCheckpoint } from '../../notary/checkpoints.ts'
import { readSuspension } from '../../notary/suspension.ts'

/**
 * Adds the metrics of the notary to a registry.
 * @returns a function that updates them; without the database they keep their last values
 */
export function measureNotary(db: Pool, registry: Registry): () => Promise<void> {
  const size = new Gauge({
    name: 'keyledger_notary_events',
    help: 'Events that the last signed checkpoint covers; 0 before the first',
    registers: [registry],
  })
  const signed = new Gauge({
    name: 'keyledger_notary_checkpoint_timestamp_seconds',
    help: 'Time of the last signed checkpoint; 0 before the first',
    registers: [registry],
  })
  const suspended = new Gauge({
    name: 'keyledger_notary_suspended',
    help: '1 while no checkpoint can be signed without contradicting a published one',
    registers: [registry],
  })
  return async () => {
    const read = Promise.all([readCheckpoint(db), readSuspension(db)])
    const found = await read.catch(() => undefined)
    if (found === undefined) return
    const [checkpoint, suspension] = found
    size.set(checkpoint?.size ?? 0)
    signed.set(checkpoint ? Date.parse(checkpoint.signedAt) / 1000 : 0)
    suspended.set(suspension ? 1 : 0)
  }
}
