/** A worker that has run this long did not die from a bad start. */
const provenMs = 10_000
const shortestMs = 100
const longestMs = 10_000

/**
 * The delay before a dead worker is replaced.
 * | early deaths in a row | 0 | 1 | 2 | 3 | … | 7 | 8 and more |
 * | delay in ms | 0 | 100 | 200 | 400 | | 6,400 | 10,000 |
 */
export function restartDelayMs(youngDeaths: number): number {
  return youngDeaths === 0 ? 0 : Math.min(longestMs, shortestMs * 2 ** (youngDeaths - 1))
}

/** @returns the number of early deaths in a row, this one included */
export function youngDeathsAfter(before: number, servedMs: number): number {
  return servedMs >= provenMs ? 0 : before + 1
}
