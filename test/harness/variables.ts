import { decimalOf, wholeNumberOf } from '../../src/numbers.ts'

/**
 * The number of a variable that makes a test longer. A test that ran 0 times would pass: it is at least 1.
 * @param absent the number when the variable is not set
 * @param least of a seed, 0
 */
export function wholeVariable(name: string, absent: number, least = 1): number {
  const text = process.env[name]
  return text === undefined ? absent : wholeNumberOf(name, text, least, 1_000_000_000)
}

/** The same for a duration, which may have decimals. */
export function decimalVariable(name: string, absent: number): number {
  const text = process.env[name]
  return text === undefined ? absent : decimalOf(name, text, 0.1, 86_400)
}
