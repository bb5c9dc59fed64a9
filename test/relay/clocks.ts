import type { Clocks } from '../../src/relay/clock.ts'

/** Clocks that a test turns: `pass` lets time go by, `set` sets the clock of the machine, `suspend` is a sleep of the machine. */
export function testClocks(wallMs = Date.parse('2026-11-27T10:00:00Z')) {
  let monotonic = 5_000_000
  let uptime = 9_000_000
  let wall = wallMs
  const clocks: Clocks = {
    monotonic: () => monotonic,
    uptime: () => uptime,
    wall: () => wall,
  }
  return {
    clocks,
    /** The time as it really is. */
    real: wallMs,
    pass(ms: number) {
      monotonic += ms
      uptime += ms
      wall += ms
      this.real += ms
    },
    suspend(ms: number) {
      uptime += ms
      wall += ms
      this.real += ms
    },
    set(ms: number) {
      wall += ms
    },
    /** The machine starts again: its clocks of the process begin anew. */
    restart() {
      monotonic = 1_000_000
      uptime = 1_000
    },
  }
}
