/** A text that should be a number is none, or out of its bounds. The message says what is allowed. */
export class NumberInvalid extends Error {}

/**
 * The number that a text consists of, written in decimal digits. Nothing else is a number: not an empty text, which
 * `Number` reads as 0, nor `1e3`, `0x10` and ` 7 `.
 * @returns undefined when it is no whole number from `least` to `most`, inclusive
 */
export const wholeNumberIn = (text: string, least: number, most: number): number | undefined =>
  within(/^-?\d{1,15}$/, text, least, most)

/** The same for a number that may have decimals. */
export const decimalIn = (text: string, least: number, most: number): number | undefined =>
  within(/^-?\d{1,15}(?:\.\d{1,6})?$/, text, least, most)

function within(form: RegExp, text: string, least: number, most: number): number | undefined {
  if (!form.test(text) || (text.startsWith('-') && least >= 0)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}

/**
 * The whole number that was given for something.
 * @param what its name, such as `--port`
 * @throws NumberInvalid
 */
export const wholeNumberOf = (what: string, text: string, least: number, most: number): number =>
  orRefused(wholeNumberIn(text, least, most), `${what} must be a whole number`, text, least, most)

/** The same for a number that may have decimals. @throws NumberInvalid */
export const decimalOf = (what: string, text: string, least: number, most: number): number =>
  orRefused(decimalIn(text, least, most), `${what} must be a number`, text, least, most)

function orRefused(
  number: number | undefined,
  rule: string,
  text: string,
  least: number,
  most: number,
): number {
  if (number !== undefined) return number
  throw new NumberInvalid(
    `${rule} from ${least} to ${most}, in decimal digits; it is ${JSON.stringify(text)}.`,
  )
}
