/** A worker that has served for so long did not die of how it was started. */
const provenMs = 10_000
const shortestMs = 100
const longestMs = 10_000

/**
 * How long to wait before a worker that has died is replaced.
 * | died young in a row | 0 | 1 | 2 | 3 | … | 7 | 8 and more |
 * | wait in ms | 0 | 100 | 200 | 400 | | 6,400 | 10,000 |
 */
export function restartDelayMs(youngDeaths: number): number {
  return youngDeaths === 0 ? 0 : Math.min(longestMs, shortestMs * 2 ** (youngDeaths - 1))
}

/** @returns how many have died young in a row, this one included */
export function youngDeathsAfter(before: number, servedMs: number): number {
  return servedMs >= provenMs ? 0 : before + 1
}
