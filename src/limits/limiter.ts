import { createDelayed } from '../async/delayed.ts'
import {
  type Gcra,
  type Left,
  Meter,
  type MeterOptions,
  type Rate,
  type Report,
  type Settlement,
} from './meter.ts'

/** The buckets that the processes share. */
export type SharedBuckets = {
  settle(limit: string, gcra: Gcra, reports: readonly Report[], now: number): Promise<Settlement[]>
}

export type Limiter = {
  readonly rate: Rate
  /**
   * @returns 0 when the call is admitted, else the milliseconds until a retry is worthwhile; a promise only
   *   when the shared state is needed
   */
  take(key: string): number | Promise<number>
  /** What is left for a caller, as far as this process knows. */
  left(key: string): Left
  setProcesses(count: number): void
  /** Starts from the shared state of earlier processes. */
  resume(states: readonly Pick<Settlement, 'key' | 'tat'>[]): void
  /** Reports everything that is unreported, once. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export type LimiterOptions = MeterOptions & {
  shared: SharedBuckets
  now: () => number
  /** Whether this process may admit calls on its own share of the limit; false after a pause. */
  isCounted?: () => boolean
  onFailure: (error: unknown) => void
}

/** How long what was admitted may wait for a report that is not urgent. */
const reportAfterMs = 500
/** The longest wait of a caller for the shared state. */
const answerTimeoutMs = 250
const forgetEveryMs = 60_000

/** Creates a limit, which applies from the first call. */
export function createLimiter(limit: string, rate: Rate, options: LimiterOptions): Limiter {
  const { shared, now, isCounted = () => true, onFailure } = options
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
      reporting.ask()
    } finally {
      clearTimeout(timeout)
    }
  }

  /** Sends one report at a time; later admissions go with the next. */
  function sendNext(all?: true): Promise<void> {
    sending ??= send(all).finally(() => {
      sending = undefined
      if (meter.isUrgent) void sendNext()
    })
    return sending
  }

  /** Reports together what is admitted in the same tick. */
  function sendSoon(): void {
    if (sending || isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void sendNext()
    })
  }

  const reporting = createDelayed(reportAfterMs, async () => {
    // A report that is under way does not have what was admitted since it began.
    await sending
    await sendNext()
  })
  const forgetting = setInterval(() => meter.forget(now()), forgetEveryMs)
  forgetting.unref()

  async function flush(): Promise<void> {
    await sending
    await sendNext(true)
  }

  return {
    rate,
    take(key) {
      const decided = meter.admit(key, now(), isCounted())
      if (decided < 0) {
        return new Promise((resolve) => {
          meter.wait(key, resolve)
          sendSoon()
        })
      }
      if (meter.isUrgent) sendSoon()
      if (decided === 0) reporting.ask()
      return decided
    },
    left: (key) => meter.left(key, now()),
    setProcesses(count) {
      // What a process admitted while it was alone, others have to know of.
      if (meter.setProcesses(count)) reporting.ask()
    },
    resume: (states) => meter.resume(states),
    flush,
    async stop() {
      reporting.cancel()
      clearInterval(forgetting)
      await flush()
    },
  }
}
