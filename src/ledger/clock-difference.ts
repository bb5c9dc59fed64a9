import { fetchStoreTime } from './store-clock.ts'

/** Another clock: its name, how far it is ahead of this machine's, and how exactly that is known. */
export type OtherClock = { name: string; aheadMs: number; uncertaintyMs: number }

/** From then on links, codes and tokens run out at the wrong moment, and events stand in the wrong order of time. */
export const reportedDifferenceMs = 5000

/** How far a clock is off at least, in milliseconds, whatever the answer took; 0 or less: perhaps not at all. */
export const minDifferenceMs = ({ aheadMs, uncertaintyMs }: OtherClock): number =>
  Math.abs(aheadMs) - uncertaintyMs

/** Such as "20.0 s behind the event store", which completes "this machine's clock is". */
export function describeClock({ name, aheadMs, uncertaintyMs }: OtherClock): string {
  const seconds = Math.max(0, Math.abs(aheadMs) - uncertaintyMs) / 1000
  if (seconds === 0) return `the same as ${name}`
  return `${seconds.toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} ${name}`
}

/** The clock behind an HTTP answer, whose Date has whole seconds. Empty without a date. */
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

/** The clock of the event store, or none when no node says its time. */
export async function clockOfEventStore(url: string): Promise<OtherClock[]> {
  const answer = await fetchStoreTime(url)
  return answer ? clockOfResponse('the event store', answer.date, answer.before, answer.after) : []
}

/** Compares the clocks of this machine and of the event store, for the errors of calls that were not answered in time. */
export type ClockDifference = {
  /** Asks for the store's time in the background, at most once a minute. */
  refresh(): void
  /** What to add to an error; undefined when the clocks agree, or the store's time is not known soon. */
  describe(): Promise<string | undefined>
}

const cacheMs = 60_000
/** How long an error waits for an answer that is under way. */
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
