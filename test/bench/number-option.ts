import { decimalOf, NumberInvalid, wholeNumberOf } from '../../src/numbers.ts'

/** The whole number of an option. Says what is wrong and ends the process with 2 when it is none. */
export const wholeOption = (flag: string, text: string, least: number, most: number): number =>
  orEnd(() => wholeNumberOf(flag, text, least, most))

/** The same for a number that may have decimals. */
export const decimalOption = (flag: string, text: string, least: number, most: number): number =>
  orEnd(() => decimalOf(flag, text, least, most))

function orEnd(read: () => number): number {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NumberInvalid)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(2)
  }
}
