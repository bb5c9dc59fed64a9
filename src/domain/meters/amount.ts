import { z } from 'zod'

/** An amount of what is metered, in millionths of its unit: sums of any number of amounts are exact. */
export type Amount = bigint

const places = 6
const perUnit = 10n ** BigInt(places)

/** Up to 12 digits before the point and 6 after it: a billion calls a second for ten minutes, in millionths. */
const form = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/

/** A decimal number as a string: as a JSON number, `0.1` and large counts would lose digits on their way. */
export const AmountText = z
  .string()
  .regex(form, 'must be a decimal number as a string, with up to 12 digits before the point and 6 after it')

/** A sum of any number of those. */
export const SumText = z.string().regex(/^(?:0|[1-9]\d{0,29})(?:\.\d{1,6})?$/)

/** @param text of the form of {@link AmountText}, or that with a minus */
export function amountOf(text: string): Amount {
  if (text.startsWith('-')) return -amountOf(text.slice(1))
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole) * perUnit + BigInt(fraction.padEnd(places, '0'))
}

/** The shortest decimal number that is this amount. */
export function amountText(amount: Amount): string {
  const [sign, size] = amount < 0n ? ['-', -amount] : ['', amount]
  const fraction = (size % perUnit).toString().padStart(places, '0').replace(/0+$/, '')
  return `${sign}${size / perUnit}${fraction && '.'}${fraction}`
}

export const least = (one: Amount, other: Amount): Amount => (one < other ? one : other)
/** 0 for none. */
export function greatest(amounts: Iterable<Amount>): Amount {
  let found = 0n
  for (const amount of amounts) if (amount > found) found = amount
  return found
}
export const notNegative = (amount: Amount): Amount => (amount > 0n ? amount : 0n)
export const sumOf = (amounts: Iterable<Amount>): Amount => {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}

/** As people read it in a language, with all of its digits: `10,000.5`. @param text of an amount */
export const amountWords = (text: string, language = 'en'): string =>
  new Intl.NumberFormat(language, { maximumFractionDigits: places }).format(text as Intl.StringNumericLiteral)

/** As a number, to be drawn. */
export const drawn = (amount: Amount): number => Number(amount) / Number(perUnit)
