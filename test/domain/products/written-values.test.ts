/** Guarantee: a value that is written for a person is the same value when the person sends it back. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EntitlementValue } from '../../../src/domain/products/entitlement-values.ts'
import {
  entitlementsWritten,
  valueWritten,
  writtenValue,
} from '../../../src/domain/products/written-values.ts'

const likeOthers = [
  'true',
  'false',
  'null',
  '1',
  '-0',
  '1e3',
  '"',
  '""',
  '"a"',
  ' a',
  'a ',
  '007',
  '1.50',
  '\\',
  '{}',
]
const value = fc
  .oneof(
    fc.constant(true as const),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
    fc.constantFrom(...likeOthers),
  )
  .filter((one) => EntitlementValue.safeParse(one).success)

test('any value comes back, and is one line', () =>
  fc.assert(
    fc.property(value, (one) => {
      const written = writtenValue(one)
      expect(valueWritten(written)).toBe(Object.is(one, -0) ? 0 : one)
      expect(written).not.toMatch(/[\r\n]/)
    }),
    { numRuns: 2000 },
  ))

test.each<[written: string, value: unknown]>([
  ['25', 25],
  [' -0.5 ', -0.5],
  ['1e3', 1000],
  ['true', true],
  ['false', false],
  ['gold', 'gold'],
  ['2027-11-21', '2027-11-21'],
  ['007', '007'],
  ['1.2.3', '1.2.3'],
  ['"25"', '25'],
  ['"broken', '"broken'],
  ['"a"b"', '"a"b"'],
  ['', ''],
])('%j is %j', (written, expected) => expect(valueWritten(written)).toBe(expected))

test('entitlements are written with their values', () =>
  expect(
    entitlementsWritten(['constructor', 'export', 'projects'], { projects: 25, other: 1 }),
  ).toStrictEqual(['constructor', 'export', 'projects = 25']))
