/** A master key is 32 bytes in base64, and each purpose has its own derived key, always the same. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newMasterKey, parseMasterKey } from '../../src/vault/master-key.ts'

const hint = 'KEYLEDGER_MASTER_KEY must be 32 bytes in base64. Create one with: openssl rand -base64 32'
const zeros = Buffer.alloc(32).toString('base64')

/** Comparing key objects does not compare their bytes. */
const keysIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parseMasterKey(text)).map(([purpose, key]) => [purpose, key.export().toString('hex')]),
  )

test('a new master key is valid, and different each time', () => {
  const made = Array.from({ length: 20 }, newMasterKey)
  expect(new Set(made).size).toBe(20)
  for (const text of made) expect(parseMasterKey(text).wrapping.symmetricKeySize).toBe(32)
})

test('each purpose has a key of its own, of 32 bytes, and none is the master key', () =>
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const derived = Object.values(keysIn(Buffer.from(bytes).toString('base64')))
      expect(new Set([Buffer.from(bytes).toString('hex'), ...derived]).size).toBe(derived.length + 1)
      expect(derived.map((key) => key.length)).toStrictEqual(derived.map(() => 64))
    }),
  ))

test('the derived keys never change, so older sealed values can be opened', () => {
  const { wrapping, indexing } = keysIn(zeros)
  expect(wrapping).toBe('11564bce016aedf397a25431a0b689ea765677bbb190c53d4ccf011d96e32f8a')
  expect(indexing).toBe('8a9390ae0f6178127a48b9136642a3efa5cd5a53f2cdadbdbde7a5c3ab795380')
})

test('two master keys have nothing in common', () => {
  const one = Object.values(keysIn(zeros))
  const other = Object.values(keysIn(Buffer.alloc(32, 1).toString('base64')))
  expect(new Set([...one, ...other]).size).toBe(one.length + other.length)
})

describe('the text of a master key', () => {
  test.each([
    ['without padding', zeros.slice(0, -1)],
    ['with a line break, as a file or openssl ends', `${zeros}\n`],
    ['with spaces around it', `  ${zeros} `],
  ])('is taken %s', (_, text) => expect(keysIn(text)).toStrictEqual(keysIn(zeros)))

  test.each([
    ['empty', ''],
    ['31 bytes', Buffer.alloc(31).toString('base64')],
    ['33 bytes', Buffer.alloc(33).toString('base64')],
    ['32 bytes in hex', Buffer.alloc(32).toString('hex')],
    ['32 characters of plain text', 'correct horse battery staple 123'],
    ['base64url', Buffer.alloc(32, 0xff).toString('base64url')],
    ['broken by a space', `${zeros.slice(0, 20)} ${zeros.slice(20)}`],
    ['followed by something else', `${zeros}!`],
    ['not in the one written form of its bytes', `${zeros.slice(0, -2)}B=`],
  ])('is refused when it is %s, saying how to make one', (_, text) =>
    expect(() => parseMasterKey(text)).toThrow(new Error(hint)),
  )
})
