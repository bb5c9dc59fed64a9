/** A worker that has run this long did not die from a bad start. */
const provenMs = 10_000
const shortestMs = 100
const longestMs = 10_000

/**
 * The delay before a dead worker is replaced: none, unless it dies early again and again.
 * | early deaths in a row | 0 | 1 | 2 | 3 | … | 8 | 9 and more |
 * | delay in ms | 0 | 0 | 100 | 200 | | 6,400 | 10,000 |
 */
export function restartDelayMs(youngDeaths: number): number {
  return youngDeaths <= 1 ? 0 : Math.min(longestMs, shortestMs * 2 ** (youngDeaths - 2))
}

/** @returns the number of early deaths in a row, this one included */
export function youngDeathsAfter(before: number, servedMs: number): number {
  return servedMs >= provenMs ? 0 : before + 1
}
