import { createLimiter, type Limiter } from '../../src/limits/limiter.ts'
import {
  type Gcra,
  latestTat,
  type Rate,
  type Report,
  type Settlement,
  waitMs,
} from '../../src/limits/meter.ts'

/** The rule of the shared buckets, in memory: what `shared-buckets.ts` does in Postgres. */
export function createMemoryBuckets() {
  const tats = new Map<string, number>()
  return {
    settle(gcra: Gcra, reports: readonly Report[], now: number): Settlement[] {
      return reports.map(({ key, expected, mine, since, admitted, waiting }) => {
        const before = tats.get(key) ?? 0
        const saysNothing = before === expected || before <= since || before > latestTat(gcra, now)
        let tat = saysNothing ? mine : Math.max(mine, before + admitted * gcra.intervalMs)
        let granted = 0
        for (; granted < waiting && waitMs(gcra, tat, now) === 0; granted++) {
          tat = Math.max(tat, now) + gcra.intervalMs
        }
        tats.set(key, tat)
        return { key, tat, granted }
      })
    },
    stateOf: (key: string) => tats.get(key),
  }
}

/** A limiter of one process whose shared buckets are in memory, by a clock of the test. */
export function createMemoryLimiter(name: string, rate: Rate, now: () => number): Limiter {
  const memory = createMemoryBuckets()
  return createLimiter(name, rate, {
    shared: { settle: async (_limit, ...spending) => memory.settle(...spending) },
    now,
    onFailure(error) {
      throw error
    },
  })
}
