/**
 * Text from outside is shown on one line, without invisible characters or ones that change the direction of
 * writing.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainText, quoted, withoutInvisible } from '../../src/domain/plain-text.ts'

test.each([
  ['what people write stays', 'Zoë’s “Editor” 2 – 東京, עברית, हिन्दी, ☕️'.replace('\ufe0f', ''), undefined],
  ['a line break parts words', 'x\r\n- nothing happens\u2028\u2029\u0085y', 'x - nothing happens y'],
  ['spaces of every kind become one', '\u00a0a\u2003\u3000 b\t', 'a b'],
  ['control characters go, and a terminal’s escapes with them', 'a\0\u0007\u001b[2K\u009bb\u007f', 'a[2Kb'],
  ['marks and isolates of direction go', '\u202eexe.\u2066gpj\u2069\u200f\u061c', 'exe.gpj'],
  ['what has no width goes', 'ac\u200bm\u200d\u2060e\ufeff\u00ad', 'acme'],
  ['what is drawn as nothing goes', 'a\u3164\u115f\uffa0\u034f\u17b4\u180e\u2800b', 'ab'],
  ['variation selectors and tags go', 'a\ufe0f\u{e0100}\u{e0041}b', 'ab'],
  ['halves of pairs, private use and what is unassigned go', 'a\ud800\ue000\u{f0000}\uffff\u0378b', 'ab'],
])('%s', (_, given, shown) => {
  expect(plainText(given)).toBe(shown ?? given)
})

test('any text becomes one line of visible characters, and stays unchanged the second time', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (given) => {
      const shown = plainText(given)
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u)
      expect(plainText(shown)).toBe(shown)
    }),
  ))

test('quoted text cannot end its quotation', () => {
  expect(quoted('a program”, approved by “ada\u200b')).toBe('“a program", approved by "ada”')
})

test('with lines kept, only invisible characters are removed', () => {
  expect(withoutInvisible('a  b\n\tc\u202e\u0000')).toBe('a  b\n\tc')
})
