import type { Clock } from './ports.ts'

/**
 * How long to wait before an attempt, with full jitter: anything between 0 and the bound.
 *
 * | attempt | bound, from 500 ms up to 8 s |
 * | ------- | ---------------------------- |
 * | 0       | 0.5 s                        |
 * | 1       | 1 s                          |
 * | 4       | 8 s                          |
 * | 9       | 8 s                          |
 */
export const fullJitter = (attempt: number, baseMs: number, mostMs: number, random: () => number): number =>
  random() * Math.min(mostMs, baseMs * 2 ** attempt)

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })
