/** Every character of an alphabet is equally likely, whatever the alphabet's size. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { randomText } from '../../src/credentials/random.ts'
import { cycling } from './bytes.ts'

const alphabetOf = (size: number) =>
  String.fromCharCode(...Array.from({ length: size }, (_, index) => 0x100 + index))

/** Every byte once, starting with those that an uneven alphabet must skip. */
const everyByte = Array.from({ length: 256 }, (_, index) => 255 - index)

test('from every byte once, each character comes equally often', () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 256 }), (size) => {
      const alphabet = alphabetOf(size)
      const share = Math.floor(256 / size)
      const text = randomText(alphabet, size * share, cycling(everyByte))
      const counts = new Map<string, number>()
      for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
      expect(counts).toStrictEqual(new Map([...text].map((character) => [character, share])))
      expect(counts.size).toBe(size)
    }),
  ))

test('bytes that would favor the start of the alphabet are skipped', () => {
  const base62 = alphabetOf(62)
  expect(randomText(base62, 2, cycling([248, 255, 251, 247, 0]))).toBe(
    `${base62.charAt(61)}${base62.charAt(0)}`,
  )
})

test('has the requested length, and only characters of the alphabet', () =>
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 256 }),
      fc.integer({ min: 0, max: 100 }),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 50 }),
      (size, length, bytes) => {
        const alphabet = alphabetOf(size)
        const text = randomText(alphabet, length, cycling([...bytes, 0]))
        expect(text).toHaveLength(length)
        expect([...text].every((character) => alphabet.includes(character))).toBe(true)
      },
    ),
  ))
