/** Guarantee: no name that people see makes other text read differently, or hides text: neither a new nor a recorded one. */
import { expect, test } from 'vitest'
import { nameInOneLine } from '../../src/domain/plain-text.ts'
import { isPlain, text } from '../../src/domain/values.ts'

const between = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at))

const refused = [
  ...between(0x202a, 0x202e),
  ...between(0x2066, 0x206f),
  ...between(0x2060, 0x2064),
  ...['\u200b', '\u2028', '\u2029', '\ufeff', '\u{e0041}', '\n', '\u0085'],
]

test.each(refused)('a name with %j is refused, and one that must not be is cleaned', (character) => {
  const name = `Ada${character}'s laptop`
  expect(isPlain(name)).toBe(false)
  expect(text(200).safeParse(name).error?.issues[0]?.message).toMatch(/^must be well-formed text without/)
  expect(isPlain(nameInOneLine(name))).toBe(true)
})

test.each(['\u05d3\u200f (x)', '\u0646\u200c\u0647', '👩\u200d💻', '❤\ufe0f', "Ada's Mac", '東京'])(
  'the name %s is taken as it is',
  (name) => {
    expect(isPlain(name)).toBe(true)
    expect(nameInOneLine(name)).toBe(name)
  },
)
