import type { Duration, KeyType } from '../products/key-type.ts'
import { expiryAfter } from './expiry.ts'

/** When a license ends, or with which term it will start. A term waits for the first activation, and once at most. */
export type Term = {
  expiresAt: string | null
  /** The term that starts at the first activation; null when nothing waits for one. */
  startsWith: Duration | null
}

/** The same as events hold it: `startsWith` is left out when nothing waits. */
export type RecordedTerm = { expiresAt: string | null; startsWith?: Duration | undefined }

/** The term of a license that is issued at `at` with the duration of its key type alone. */
export function termFrom({ duration, startsAt }: KeyType, at: string): RecordedTerm {
  if (duration === null) return { expiresAt: null }
  return startsAt === 'first_activation'
    ? { expiresAt: null, startsWith: duration }
    : { expiresAt: expiryAfter(at, duration) }
}

/** As {@link Term}. */
export const termIn = ({ expiresAt, startsWith }: RecordedTerm): Term => ({
  expiresAt,
  // An end is given by something else than the first activation, so nothing waits for that any more.
  startsWith: expiresAt === null ? (startsWith ?? null) : null,
})

/** The same as an event records it. */
export const recordedTerm = ({ expiresAt, startsWith }: Term): RecordedTerm => ({
  expiresAt,
  ...(startsWith && { startsWith }),
})
