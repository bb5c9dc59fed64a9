import { isRecord, isSeconds } from '../keyset.ts'

/** A release of the app, as the vendor has listed it. */
export type Release = { version: string; builtAt: number; url: string | null }

/** What the server says of a build that a license does not cover. It is not signed: it explains, and takes nothing away. */
export type NotCovered = {
  /** The license covers builds until then, in Unix seconds. */
  updatesUntil: number
  /** The newest release that it covers; absent when the vendor lists none. */
  newestRelease?: Release
}

/** What an answer says of the build; undefined when it says something else. */
export function notCoveredIn(answer: unknown): NotCovered | undefined {
  if (!isRecord(answer) || answer.reason !== 'build_not_covered') return undefined
  const { updates_until: updatesUntil, newest_covered_release: newest } = answer
  const { version, built_at: builtAt, url } = isRecord(newest) ? newest : {}
  return notCoveredFrom({ updatesUntil, newestRelease: { version, builtAt, url } })
}

/** Reads what was stored. */
export function notCoveredFrom(value: unknown): NotCovered | undefined {
  if (!isRecord(value) || !isSeconds(value.updatesUntil)) return undefined
  const { version, builtAt, url } = isRecord(value.newestRelease) ? value.newestRelease : {}
  if (typeof version !== 'string' || !isSeconds(builtAt)) return { updatesUntil: value.updatesUntil }
  // An app may open it, so nothing but the address of a page is handed on.
  const address = typeof url === 'string' && url.startsWith('https://') ? url : null
  return { updatesUntil: value.updatesUntil, newestRelease: { version, builtAt, url: address } }
}

/** When the app was built, in whole Unix seconds; undefined for what cannot be read, which counts as covered. */
export function builtAtFrom(given: number | string | undefined): number | undefined {
  const seconds = Math.floor(typeof given === 'string' ? Date.parse(given) / 1000 : (given ?? Number.NaN))
  return isSeconds(seconds) ? seconds : undefined
}
