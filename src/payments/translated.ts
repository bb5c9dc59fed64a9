import type { z } from 'zod'
import type { PaymentNotification } from './notification.ts'

/** What a verified notification comes to. */
export type Translated =
  | PaymentNotification
  /** Nothing that changes what was sold or paid. */
  | { type: 'ignored' }
  /** It should change something, but does not say what that takes. */
  | { type: 'incomplete' }
  /** It needs to know more, and the connection has no key to ask the provider with. */
  | { type: 'unanswerable' }

export const ignored: Translated = { type: 'ignored' }
export const incomplete: Translated = { type: 'incomplete' }
export const unanswerable: Translated = { type: 'unanswerable' }

/** Undefined for what is not JSON of this shape. */
export function parsedAs<T extends z.ZodType>(shape: T, raw: string): z.infer<T> | undefined {
  try {
    return shape.safeParse(JSON.parse(raw)).data
  } catch {
    return undefined
  }
}

/** A provider's time as the log writes it; undefined for what is no time. */
export function momentFrom(time: string | number | null | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

export const momentOfSeconds = (seconds: number): string => new Date(seconds * 1000).toISOString()
