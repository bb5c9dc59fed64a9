import type { Keeper } from './keeper.ts'
import type { Clock } from './ports.ts'
import { fullJitter, type Problem } from './problem.ts'
import type { State } from './states.ts'

/** What a call has led to. The state is the present one in both cases. */
export type Outcome =
  | { ok: true; problem?: undefined; state: State }
  | { ok: false; problem: Problem; state: State }

type RefreshSettings = {
  clock: Clock
  random: () => number
  keeper: Keeper
  /** Undefined for a client without a server. */
  validate: (() => Promise<Outcome>) | undefined
  everySeconds: number
}

/** Validates in the background, and announces states that end by themselves. */
export function createRefresh({ clock, random, keeper, validate, everySeconds }: RefreshSettings) {
  const timers: { refresh?: () => void; watch?: () => void } = {}
  let running = 0

  async function validateAgain(run: number, failures: number): Promise<void> {
    const outcome = await validate?.()
    if (!outcome || run !== running) return
    // The server that does not cover the build will not cover it in a minute.
    const isAnswered = outcome.ok || outcome.problem.code === 'build_not_covered'
    const waitMs = isAnswered
      ? pauseOf(outcome.state) * (0.9 + 0.2 * random())
      : pauseAfter(outcome.problem, outcome.state, failures)
    timers.refresh = clock.after(waitMs, () => void validateAgain(run, isAnswered ? 0 : failures + 1), true)
  }
  const pauseOf = (state: State): number => {
    const isLeased = 'until' in state && 'entitlements' in state
    const seconds = isLeased ? Math.min(everySeconds, (state.until - keeper.now()) / 2) : everySeconds
    return Math.max(30, seconds) * 1000
  }
  const pauseAfter = ({ code, retryAfterMs = 0 }: Problem, state: State, failures: number): number => {
    // Who waits for a floating seat comes back when the next one ends.
    if (code === 'seat_limit_reached' && retryAfterMs > 0) return retryAfterMs * (1 + 0.2 * random())
    // A lease that is nearly over, as one of a floating seat soon is, gets some more attempts before its end.
    const leftMs =
      'until' in state && 'entitlements' in state
        ? (state.until - keeper.now()) * 1000
        : Number.POSITIVE_INFINITY
    const most = Math.max(5000, leftMs / 4)
    return retryAfterMs + Math.min(most, 1000 + fullJitter(failures, 60_000, 3_600_000, random))
  }
  function watch(run: number): void {
    if (run !== running) return
    const end = keeper.announce()
    const leftMs = end === undefined ? Number.POSITIVE_INFINITY : (end - keeper.now() + 1) * 1000
    // At least once an hour, which also notes the time of the clock.
    const next = () => void keeper.change((facts) => facts).then(() => watch(run))
    timers.watch = clock.after(Math.max(1000, Math.min(leftMs, 3_600_000)), next, true)
  }

  return {
    start() {
      this.stop()
      const run = ++running
      watch(run)
      void validateAgain(run, 0)
    },
    stop() {
      running++
      timers.refresh?.()
      timers.watch?.()
    },
  }
}
