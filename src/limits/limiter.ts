import type { Gcra, Rate } from './gcra.ts'
import { Meter, type MeterOptions, type Report, type Settlement } from './meter.ts'

/** Where the processes that share a limit tell each other what they have admitted. */
export type SharedBuckets = {
  settle(limit: string, gcra: Gcra, reports: readonly Report[], now: number): Promise<Settlement[]>
}

export type Limiter = {
  readonly rate: Rate
  /** @returns 0 when the caller may go, else the milliseconds until it is worth trying again; rarely a promise of it */
  take(key: string): number | Promise<number>
  setProcesses(count: number): void
  /** Goes on from what processes before this one have told. */
  resume(told: readonly Pick<Settlement, 'key' | 'tat'>[]): void
  /** Tells what has not been told, once. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export type LimiterOptions = MeterOptions & {
  shared: SharedBuckets
  now: () => number
  onFailure: (error: unknown) => void
}

/** What is not urgent is told so often. */
const reportEveryMs = 500
/** Nobody waits longer for an answer than this. */
const answerTimeoutMs = 250
const forgetEveryMs = 60_000

/** One limit, in force from the first call on. */
export function createLimiter(limit: string, rate: Rate, options: LimiterOptions): Limiter {
  const { shared, now, onFailure } = options
  const meter = new Meter(rate, options)
  let sending: Promise<void> | undefined
  let isScheduled = false

  async function send(all?: true): Promise<void> {
    const reports = meter.report(all)
    if (reports.length === 0) return
    const timeout = setTimeout(() => meter.giveUp(now()), answerTimeoutMs)
    try {
      meter.settle(await shared.settle(limit, meter.gcra, reports, now()), now())
    } catch (error) {
      meter.fail(now())
      onFailure(error)
    } finally {
      clearTimeout(timeout)
    }
  }

  /** One at a time: what comes meanwhile goes with the next. */
  function sendNext(all?: true): Promise<void> {
    sending ??= send(all).finally(() => {
      sending = undefined
      if (meter.isUrgent) void sendNext()
    })
    return sending
  }

  /** What is admitted at the same moment is told together. */
  function sendSoon(): void {
    if (sending || isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void sendNext()
    })
  }

  const reporting = setInterval(() => void sendNext(), reportEveryMs)
  const forgetting = setInterval(() => meter.forget(now()), forgetEveryMs)
  reporting.unref()
  forgetting.unref()

  async function flush(): Promise<void> {
    await sending
    await sendNext(true)
  }

  return {
    rate,
    take(key) {
      const decided = meter.admit(key, now())
      if (decided < 0) {
        return new Promise((resolve) => {
          meter.wait(key, resolve)
          sendSoon()
        })
      }
      if (meter.isUrgent) sendSoon()
      return decided
    },
    setProcesses: (count) => meter.setProcesses(count),
    resume: (told) => meter.resume(told),
    flush,
    async stop() {
      clearInterval(reporting)
      clearInterval(forgetting)
      await flush()
    },
  }
}
