import { type Gcra, gcraOf, type Rate } from './gcra.ts'
import { Meter, type Report, type Settlement } from './meter.ts'

/** Where the processes that share a limit tell each other what they have admitted. */
export type SharedBuckets = {
  settle(limit: string, gcra: Gcra, reports: readonly Report[], now: number): Promise<Settlement[]>
}

export type Limiter = {
  /** @returns 0 when the caller may go, else the milliseconds until it is worth trying again; rarely a promise of it */
  take(key: string): number | Promise<number>
  setProcesses(count: number): void
  /** Tells what has not been told, once. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export type LimiterOptions = {
  shared: SharedBuckets
  now: () => number
  onFailure: (error: unknown) => void
}

/** What is not urgent is told so often. */
const roundMs = 500
/** Nobody waits longer for an answer than this. */
const patienceMs = 250
const forgetEveryMs = 60_000

/** One limit, in force from the first call on. */
export function createLimiter(limit: string, rate: Rate, options: LimiterOptions): Limiter {
  const { shared, now, onFailure } = options
  const meter = new Meter(rate)
  const gcra = gcraOf(rate)
  let telling: Promise<void> | undefined
  let soon = false

  async function tell(): Promise<void> {
    const reports = meter.report()
    if (reports.length === 0) return
    const patience = setTimeout(() => meter.giveUp(now()), patienceMs)
    try {
      meter.settle(await shared.settle(limit, gcra, reports, now()), now())
    } catch (error) {
      meter.fail(now())
      onFailure(error)
    } finally {
      clearTimeout(patience)
    }
  }

  /** One at a time: what comes meanwhile goes with the next. */
  function flush(): Promise<void> {
    telling ??= tell().finally(() => {
      telling = undefined
      if (meter.isUrgent) void flush()
    })
    return telling
  }

  /** What is admitted at the same moment is told together. */
  function flushSoon(): void {
    if (telling || soon) return
    soon = true
    setImmediate(() => {
      soon = false
      void flush()
    })
  }

  const rounds = setInterval(() => void flush(), roundMs)
  const forgetting = setInterval(() => meter.forget(now()), forgetEveryMs)
  rounds.unref()
  forgetting.unref()

  return {
    take(key) {
      const decided = meter.admit(key, now())
      if (decided < 0) {
        return new Promise((resolve) => {
          meter.wait(key, resolve)
          flushSoon()
        })
      }
      if (meter.isUrgent) flushSoon()
      return decided
    },
    setProcesses: (count) => meter.setProcesses(count),
    flush,
    async stop() {
      clearInterval(rounds)
      clearInterval(forgetting)
      await telling
      await flush()
    },
  }
}
