import type { Pool } from 'pg'
import { withTimeout } from '../async/timeout.ts'
import type { PartHealth } from '../http/health.ts'
import { clockOfEventStore, type OtherClock } from '../ledger/connection/clock-difference.ts'
import { clockOfPostgres, judgeClocks } from './start/clock-check.ts'

export type Clocks = {
  /** Reads the clocks of the stores now; stores that do not answer are left out. */
  read(): Promise<OtherClock[]>
  /**
   * The result as the health of a part, cached for a minute. From the warning threshold on it has a detail, from
   * the error threshold on it is not ok. It is never required, because reads work whatever the clocks show.
   */
  health(): Promise<PartHealth>
}

const timeLimitMs = 2000
const cacheMs = 60_000

/** Compares the clocks of the event store and of Postgres with this machine's. */
export const clocksOf = (eventstoreUrl: string, db: Pool): Clocks =>
  createClocks([() => clockOfEventStore(eventstoreUrl), async () => [await clockOfPostgres(db)]])

export function createClocks(stores: readonly (() => Promise<OtherClock[]>)[]): Clocks {
  let cached: { until: number; health: Promise<PartHealth> } | undefined
  const read = async () =>
    (await Promise.all(stores.map((store) => withTimeout(store(), timeLimitMs).catch(() => [])))).flat()
  return {
    read,
    health() {
      const now = performance.now()
      if (cached === undefined || cached.until < now)
        cached = { until: now + cacheMs, health: read().then(healthOf) }
      return cached.health
    },
  }
}

function healthOf(clocks: readonly OtherClock[]): PartHealth {
  const { ok, required, detail } = judgeClocks(clocks)
  return ok ? { ok, required: false } : { ok: !required, required: false, detail }
}
