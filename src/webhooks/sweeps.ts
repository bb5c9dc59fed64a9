/** How often all due attempts are looked for, including those of other processes. */
export const sweepMs = 1000
/** The same while no attempt is scheduled: every new one comes with an entry of the log. */
const restMs = 10_000

/** When the next sweep is. */
export type Sweeps = {
  isDue(): boolean
  inMs(): number
  /** A sweep begins; the next one comes a second later. */
  begin(): void
  atOnce(): void
  /** Within a second. @returns whether it would have come later */
  soon(): boolean
  /** Nothing is scheduled. */
  rest(): void
}

export function createSweeps(): Sweeps {
  let atMs = 0
  const inMs = () => Math.max(0, atMs - performance.now())
  const next = (pauseMs: number) => {
    atMs = performance.now() + pauseMs
  }
  return {
    isDue: () => inMs() === 0,
    inMs,
    begin: () => next(sweepMs),
    atOnce: () => next(0),
    soon() {
      if (inMs() <= sweepMs) return false
      next(sweepMs)
      return true
    },
    rest: () => next(restMs),
  }
}
