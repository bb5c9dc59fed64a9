import { fetchStoreTime } from './store-clock.ts'

/** Another clock: its name, how far it is ahead of this machine's, and how far off that figure can be. */
export type OtherClock = { name: string; aheadMs: number; uncertaintyMs: number }

/**
 * A larger difference is reported: links, codes and tokens then expire at the wrong time, and events get
 * misleading times.
 */
export const reportedDifferenceMs = 5000

/**
 * The smallest difference that the measurement allows, in milliseconds; 0 or less when the clocks may agree.
 */
export const minDifferenceMs = ({ aheadMs, uncertaintyMs }: OtherClock): number =>
  Math.abs(aheadMs) - uncertaintyMs

/** Describes a clock, such as "20.0 s behind the event store", which completes "this machine's clock is". */
export function describeClock({ name, aheadMs, uncertaintyMs }: OtherClock): string {
  const seconds = Math.max(0, Math.abs(aheadMs) - uncertaintyMs) / 1000
  if (seconds === 0) return `the same as ${name}`
  return `${seconds.toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} ${name}`
}

/**
 * Reads the clock of a server from the Date header of its answer, which has whole seconds. @returns an empty
 * list without a date
 */
export function clockOfResponse(
  of: string,
  date: string | null,
  before: number,
  after: number,
): OtherClock[] {
  const then = Date.parse(date ?? '')
  if (Number.isNaN(then)) return []
  const tookMs = after - before
  return [{ name: of, aheadMs: then + 500 - before - tookMs / 2, uncertaintyMs: 500 + tookMs / 2 }]
}

/** Reads the clock of the event store. @returns an empty list when no node sends its time */
export async function clockOfEventStore(url: string): Promise<OtherClock[]> {
  const answer = await fetchStoreTime(url)
  return answer ? clockOfResponse('the event store', answer.date, answer.before, answer.after) : []
}

/** Compares this machine's clock with the event store's, for the errors of calls that timed out. */
export type ClockDifference = {
  /** Requests the store's time in the background, at most once a minute. */
  refresh(): void
  /**
   * The text to add to an error; undefined when the clocks agree, or the store's time is not known within 250
   * ms.
   */
  describe(): Promise<string | undefined>
}

const cacheMs = 60_000
/** How long an error waits for a request for the store's time. */
const answerTimeoutMs = 250

/** @param url as `parseAddress` takes it */
export function createClockDifference(url: string): ClockDifference {
  let cached: { until: number; words: Promise<string | undefined> } | undefined
  return {
    refresh() {
      const now = performance.now()
      if (cached === undefined || cached.until < now)
        cached = { until: now + cacheMs, words: differenceTo(url) }
    },
    async describe() {
      const { promise: late, resolve } = Promise.withResolvers<undefined>()
      const timer = setTimeout(() => resolve(undefined), answerTimeoutMs)
      try {
        return await Promise.race([cached?.words, late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

async function differenceTo(url: string): Promise<string | undefined> {
  const clocks = await clockOfEventStore(url).catch(() => [])
  const [wrong] = clocks.filter((clock) => minDifferenceMs(clock) > reportedDifferenceMs)
  return wrong && `this machine's clock is ${describeClock(wrong)}`
}
