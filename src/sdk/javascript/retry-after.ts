/**
 * Reads `Retry-After`: seconds or a date.
 * @returns milliseconds from now, at most a day; undefined when there is none, or it is malformed
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  // Date.parse takes much that is no date of HTTP, such as "-1".
  if (Number.isNaN(ms) || !/^\d+$|^[A-Z][a-z]{2}/.test(text)) return undefined
  return Math.min(Math.max(0, ms), 86_400_000)
}
