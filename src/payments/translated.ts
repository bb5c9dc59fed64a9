import type { z } from 'zod'
import type { PaymentNotification } from './notification.ts'

/** What a verified notification comes to. */
export type Translated =
  | PaymentNotification
  /** Nothing that changes what was sold or paid; with the id of a test, which its vendor may look for. */
  | { type: 'ignored'; testId?: string }
  /** It should change something, but does not say what that takes. */
  | { type: 'incomplete' }

export const ignored: Translated = { type: 'ignored' }
export const incomplete: Translated = { type: 'incomplete' }

/** Undefined for what is not JSON of this shape. */
export function parsedAs<T extends z.ZodType>(shape: T, raw: string): z.infer<T> | undefined {
  try {
    return shape.safeParse(JSON.parse(raw)).data
  } catch {
    return undefined
  }
}

/** A provider's time as the log writes it; undefined for what is no time, or none of a year with four digits. */
export function momentFrom(time: string | number | null | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return undefined
  const moment = date.toISOString()
  return /^\d{4}-/.test(moment) ? moment : undefined
}

/** @returns the moment; what is none is left as it is, and refused with everything else that cannot be recorded */
export const momentOfSeconds = (seconds: number): string => momentFrom(seconds * 1000) ?? String(seconds)

const pauses = new Map([
  ['paused', true],
  ['active', false],
  ['trialing', false],
  // Lemon Squeezy's word for it.
  ['on_trial', false],
])

/** Whether a subscription of this status is paused; undefined for statuses that do not tell. */
export const isPaused = (status: string | null | undefined): boolean | undefined => pauses.get(status ?? '')
