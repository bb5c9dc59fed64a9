import { uptime } from 'node:os'

/** The clocks of the machine, in milliseconds. */
export type Clocks = {
  /** Runs evenly while the machine runs, and is never set. */
  monotonic: () => number
  /** The same, but it also counts the time in which the machine was suspended. */
  uptime: () => number
  /** The time of day (Unix), which anyone may set forward or back. */
  wall: () => number
}

export const ownClocks: Clocks = {
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  uptime: () => uptime() * 1000,
  wall: () => Date.now(),
}

/** What a relay knows of the time from before, in milliseconds (Unix). */
export type KnownTime = {
  /** Until when it ran, by {@link RelayClock.now}. */
  now: number
  /** The highest time that it ever saw on any clock. */
  highest: number
}

/** The bounds of the present time that an answer of the vendor gives. */
type TimeBounds = { from: number; until: number }

/**
 * The time of a relay. While the process runs, it goes by the monotonic clock alone: a clock that is set forward or back changes
 * nothing. At the start it is the clock's, but never earlier than when the relay last ran. What decides whether a certificate is over is
 * the highest time that was seen on any clock. An answer of the vendor corrects both.
 */
export type RelayClock = {
  /** Milliseconds of the monotonic clock, from an arbitrary zero: what the ends of seats are compared with. */
  monotonic: () => number
  /** Milliseconds (Unix): what is signed, shown and recorded. */
  now: () => number
  /** Milliseconds (Unix): what a certificate's end is compared with. */
  highest: () => number
  /** How far the clock of the machine is ahead, in milliseconds; negative where it is behind. */
  aheadMs: () => number
  /** Moves both times into the bounds. */
  correct: (bounds: TimeBounds) => void
}

/** Uptime has steps of 10 ms, and reading both clocks takes a moment. */
const suspendedAtLeastMs = 1000

export function createRelayClock(clocks: Clocks, known: KnownTime | undefined): RelayClock {
  const started = { monotonic: clocks.monotonic(), uptime: clocks.uptime() }
  let startedAt = Math.max(clocks.wall(), known?.now ?? 0)
  let highest = Math.max(startedAt, known?.highest ?? 0)
  let suspendedMs = 0

  const now = (): number => {
    const ranMs = clocks.monotonic() - started.monotonic
    const missedMs = clocks.uptime() - started.uptime - ranMs
    if (missedMs > suspendedMs + suspendedAtLeastMs) suspendedMs = missedMs
    return Math.floor(startedAt + ranMs + suspendedMs)
  }
  return {
    monotonic: clocks.monotonic,
    now,
    highest() {
      highest = Math.max(highest, now(), clocks.wall())
      return highest
    },
    aheadMs: () => clocks.wall() - now(),
    correct({ from, until }) {
      const within = (time: number) => Math.min(Math.max(time, from), until)
      startedAt += within(now()) - now()
      highest = Math.max(within(highest), now())
    },
  }
}
