import type { z } from 'zod'
import { boundedJson } from '../domain/json-bounds.ts'
import type { PaymentNotification } from './notification.ts'

/** The meaning of a verified notification. */
export type Translated =
  | PaymentNotification
  /** It changes nothing that was sold or paid; with the id of a test, which its vendor may look for. */
  | { type: 'ignored'; testId?: string }
  /** It should have an effect, but required fields are missing. */
  | { type: 'incomplete' }

export const ignored: Translated = { type: 'ignored' }
export const incomplete: Translated = { type: 'incomplete' }

/** More than the longest notification of a provider has. */
const mostFields = 100_000

/** Undefined for text that is not JSON of this shape. */
export const parsedAs = <T extends z.ZodType>(shape: T, raw: string): z.infer<T> | undefined =>
  shape.safeParse(boundedJson(raw, mostFields)).data

/**
 * A provider's time in the format of the log; undefined for an invalid time, and for a year without four
 * digits.
 */
export function momentFrom(time: string | number | null | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return undefined
  const moment = date.toISOString()
  return /^\d{4}-/.test(moment) ? moment : undefined
}

/**
 * @returns the moment; an invalid time is left unchanged, to be rejected with everything else that cannot be
 *   recorded
 */
export const momentOfSeconds = (seconds: number): string => momentFrom(seconds * 1000) ?? String(seconds)

const pauses = new Map([
  ['paused', true],
  ['active', false],
  ['trialing', false],
  // Lemon Squeezy's name for it.
  ['on_trial', false],
])

/** Whether a subscription of this status is paused; undefined for statuses that do not decide it. */
export const isPaused = (status: string | null | undefined): boolean | undefined => pauses.get(status ?? '')
