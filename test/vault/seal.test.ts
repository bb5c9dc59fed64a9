/** A sealed value can be opened only with its key and owner, complete and unchanged. */
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { open, seal } from '../../src/vault/seal.ts'

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => createSecretKey(bytes))
const owners = fc.array(fc.string(), { maxLength: 4 })
const plains = fc.uint8Array({ maxLength: 300 })

const key = createSecretKey(Buffer.alloc(32, 7))
const owner = ['acme', 'sub_1', 'email']

test('a sealed value opens unchanged', () =>
  fc.assert(
    fc.property(keys, owners, plains, (someKey, someOwner, plain) => {
      const opened = open(someKey, someOwner, seal(someKey, someOwner, plain))
      expect(new Uint8Array(opened)).toStrictEqual(plain)
    }),
  ))

test('the same text sealed twice differs, and reveals only its length', () => {
  const plain = Buffer.from('ada@example.com')
  const sealed = Array.from({ length: 100 }, () => seal(key, owner, plain))
  expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100)
  expect(new Set(sealed.map((bytes) => bytes.subarray(0, 12).toString('hex'))).size).toBe(100)
  expect(sealed.some((bytes) => bytes.includes(plain))).toBe(false)
  expect(sealed[0]).toHaveLength(12 + 16 + plain.length)
})

describe('nothing opens', () => {
  test('with any one bit changed', () => {
    const sealed = seal(key, owner, Buffer.from('ada@example.com'))
    const opened: number[] = []
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(sealed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      if (opens(owner, changed)) opened.push(bit)
    }
    expect(opened).toStrictEqual([])
  })

  test('cut short at any length, empty text included', () => {
    const opened: string[] = []
    for (const text of ['', 'a', 'ada@example.com']) {
      const sealed = seal(key, owner, Buffer.from(text))
      for (let length = 0; length < sealed.length; length++) {
        if (opens(owner, sealed.subarray(0, length))) opened.push(`${text} cut to ${length}`)
      }
    }
    expect(opened).toStrictEqual([])
  })

  test('with bytes added', () => {
    const sealed = seal(key, owner, Buffer.from('ada@example.com'))
    expect(opens(owner, Buffer.concat([sealed, Buffer.alloc(1)]))).toBe(false)
    expect(opens(owner, Buffer.concat([Buffer.alloc(1), sealed]))).toBe(false)
  })

  test('with another key', () =>
    fc.assert(
      fc.property(keys, keys, plains, (right, wrong, plain) => {
        fc.pre(!right.equals(wrong))
        const sealed = seal(right, owner, plain)
        expect(() => open(wrong, owner, sealed)).toThrow()
      }),
    ))

  test('for another owner', () =>
    fc.assert(
      fc.property(owners, owners, plains, (right, wrong, plain) => {
        fc.pre(JSON.stringify(right) !== JSON.stringify(wrong))
        expect(opens(wrong, seal(key, right, plain))).toBe(false)
      }),
    ))

  test.each([
    [[]],
    [['acme', 'sub_1']],
    [['acme', 'sub_1', 'name']],
    [['other', 'sub_1', 'email']],
    [['acme', 'sub_1email']],
    [['acmesub_1', 'email']],
    [['acme', 'sub_1', 'email', '']],
    [['email', 'sub_1', 'acme']],
  ])('for the owner %j, when it was sealed for acme, sub_1, email', (other) =>
    expect(opens(other, seal(key, owner, Buffer.from('ada@example.com')))).toBe(false),
  )
})

function opens(belongsTo: readonly string[], sealed: Uint8Array): boolean {
  try {
    open(key, belongsTo, sealed)
    return true
  } catch {
    return false
  }
}
