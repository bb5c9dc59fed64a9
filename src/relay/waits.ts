/** More takers than this are not counted: whoever has the license key may send any number of names. */
const maxCounted = 10_000

/** Who found no seat, in memory. Each counts until it was told to come again, and once however often it asks before. */
export type Waits = {
  /** @returns how many wait now, this one included */
  wait: (taker: string, seconds: number) => number
  /** A taker that got a seat waits no longer. */
  stop: (taker: string) => void
}

/** @param monotonic milliseconds */
export function createWaits(monotonic: () => number): Waits {
  const until = new Map<string, number>()
  return {
    wait(taker, seconds) {
      const now = monotonic()
      for (const [each, end] of until) if (end <= now) until.delete(each)
      if (until.size < maxCounted || until.has(taker)) until.set(taker, now + seconds * 1000)
      return until.size
    },
    stop: (taker) => void until.delete(taker),
  }
}
