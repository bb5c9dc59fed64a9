import { projectionStatus } from '../../projections/runner/status.ts'
import type { Services } from '../commands/services.ts'
import type { PartHealth, Readiness } from '../http/system/health.ts'
import { withinTime } from '../ledger/within-time.ts'
import type { Feed } from '../webhooks/nats.ts'

const timeLimitMs = 2000

/** Asks every part at once, each for no longer than two seconds. */
export function createReadiness(services: Services, feed: Feed | undefined): () => Promise<Readiness> {
  const { ledger, db } = services
  return async () => {
    const [eventStore, postgres, projection] = await Promise.all([
      health(ledger.head()),
      health(db.query('select 1')),
      withinTime(projectionStatus(db, ledger), timeLimitMs).catch(() => undefined),
    ])
    const parts = {
      event_store: eventStore,
      postgres,
      read_models: { ok: projection !== undefined, required: true },
      ...(feed && { nats: { ok: feed.isConnected(), required: false } }),
    }
    return {
      parts,
      projection: { lag_events: projection?.lagEvents ?? 0, parked: projection?.parked.length ?? 0 },
    }
  }
}

async function health(answer: Promise<unknown>): Promise<PartHealth> {
  try {
    await withinTime(answer, timeLimitMs)
    return { ok: true, required: true }
  } catch (error) {
    return { ok: false, required: true, detail: error instanceof Error ? error.name : 'does not answer' }
  }
}
