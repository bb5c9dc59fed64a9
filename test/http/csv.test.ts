/** Guarantee: an RFC 4180 reader reads the same values back, and a spreadsheet runs none of them as a formula. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withoutPrefix } from '../../src/domain/csv.ts'
import { csvLine } from '../../src/http/csv.ts'
import { parseCsv } from './parse-csv.ts'

describe('a CSV cell', () => {
  test.each([
    ['plain', 'plain'],
    ['with, comma', '"with, comma"'],
    ['with "quotes"', '"with ""quotes"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' kept ', ' kept '],
    ['', ''],
    [null, ''],
    [undefined, ''],
    [0, '0'],
    [-1, '-1'],
    [true, 'true'],
    ['=1+1', "'=1+1"],
    ['+49 170', "'+49 170"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['＝1+1', "'＝1+1"],
    ['=HYPERLINK("http://evil.example","x")', '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
    ['a=1', 'a=1'],
    ["'=1", "''=1"],
    ["'t was", "'t was"],
  ])('%j is written as %j', (cell, written) => expect(csvLine([cell])).toBe(`${written}\r\n`))
})

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...',"\r\n=+-@\'a ') }),
)

test('any lines are read back unchanged, without the apostrophe before a formula', () =>
  fc.assert(
    fc.property(fc.array(fc.array(texts, { minLength: 2, maxLength: 5 }), { minLength: 1 }), (rows) => {
      const written = rows.map(csvLine).join('')
      const read = parseCsv(written)
      expect(read.flat().filter((text) => /^[=+\-@\t\r\n＝＋－＠]/.test(text))).toStrictEqual([])
      expect(read.map((row) => row.map(withoutPrefix))).toStrictEqual(rows)
    }),
  ))

test('a decimal number is written with all of its digits, and is no formula', () => {
  expect(csvLine([{ decimal: '-999999999999.999999' }, 'a'])).toBe('-999999999999.999999,a\r\n')
})
