import type { z } from 'zod'
import { boundedJson } from '../domain/json-bounds.ts'
import { nameInOneLine } from '../domain/plain-text.ts'
import { unknownProduct } from '../domain/sales/events.ts'
import { asciiEmail, isPlain, isStorable, notPlain } from '../domain/values.ts'
import type { Buyer, PaymentNotification } from './notification.ts'

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

/** Fields that are only shown and identify nothing; a line break in one of them must not lose a sale. */
const shown = new Set(['name', 'productName'])

/** Fields that may be longer than an id: links have a prefix, and a permalink may be a whole URL. */
const longest = new Map([
  ['links', 600],
  ['link', 600],
  ['names', 600],
  ['payment', 600],
  ['providerProduct', 1000],
  // An address that is too long is invalid, and the sale is licensed without a buyer.
  ['email', Number.POSITIVE_INFINITY],
])
const longestId = 490

const moments = new Set(['at', 'paidUntil', 'periodEnd', 'nextAttemptAt'])
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Finds what prevents a notification from being recorded: an id that no stream or table can hold, an invalid
 * moment, an amount that is no count.
 * @returns the fault, for the provider; undefined when it can be recorded
 */
export const faultOf = (notification: PaymentNotification): string | undefined => faultIn(notification, '')

function faultIn(value: unknown, name: string): string | undefined {
  if (typeof value === 'string') return faultOfText(value, name)
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? undefined : `${name} must be a whole number`
  }
  if (Array.isArray(value)) return first(value.map((item: unknown) => [name, item]))
  return typeof value === 'object' && value !== null ? first(Object.entries(value)) : undefined
}

function first(entries: [name: string, value: unknown][]): string | undefined {
  for (const [name, value] of entries) {
    const fault = faultIn(value, name)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfText(value: string, name: string): string | undefined {
  if (shown.has(name)) return isStorable(value) ? undefined : `${name} must be well-formed text without NUL`
  if (moments.has(name)) {
    return moment.test(value) ? undefined : `${name} must be a time between the years 0000 and 9999`
  }
  if (name === 'currency') {
    return /^[a-z]{3,10}$/i.test(value) ? undefined : 'currency must be a code of letters, such as usd'
  }
  if (value === '') return `${name} must not be empty`
  if (value.length > (longest.get(name) ?? longestId)) return `${name} is too long`
  return isPlain(value) ? undefined : `${name} ${notPlain}`
}

/**
 * @returns the sale without its buyer or giver if the address is invalid; without a buyer it is licensed without a holder
 */
export function withBuyer(notification: PaymentNotification): PaymentNotification {
  if (notification.type !== 'sold') return notification
  const { customer, giver: given, ...sale } = notification
  const giver = given && reachable(given)
  return { ...sale, customer: (customer && reachable(customer)) ?? null, ...(giver && { giver }) }
}

function reachable(buyer: Buyer): Buyer | undefined {
  const email = buyer.email.trim()
  return asciiEmail(email) === undefined ? undefined : { ...buyer, email }
}

/** @returns the notification with its shown fields on one line each */
export function inOneLine(notification: PaymentNotification): PaymentNotification {
  if (notification.type !== 'sold') return notification
  const { customer, productName } = notification
  return {
    ...notification,
    ...(productName !== undefined && { productName: nameInOneLine(productName) || unknownProduct }),
    customer: customer?.name === undefined ? customer : { ...customer, name: nameInOneLine(customer.name) },
  }
}
