/** A repeated run makes the same ids, keys and bytes, and two runs have nothing in common. */
import { createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDeriveId, newId } from '../../src/credentials/id.ts'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import { runOf } from '../../src/idempotency/request.ts'

const reserved = () => ({
  seed: randomBytes(32).toString('base64'),
  at: '2026-03-01T12:00:00.123Z',
  requestId: newId('req'),
})
const bitsOf = (id: string) =>
  [...id.slice(id.indexOf('_') + 1)].reduce(
    (bits, character) => bits * 32n + BigInt('0123456789abcdefghjkmnpqrstvwxyz'.indexOf(character)),
    0n,
  )

test('a resumed run makes the same license id, key and device ids, and knows that it is resumed', () => {
  const same = reserved()
  const make = (resumed: boolean) => {
    const run = runOf(same, resumed)
    const { licenseKey } = newLicenseKey('ACME', run.randomBytes)
    const ids = [run.newId('lic'), run.newId('ins'), run.newId('ins'), run.newId('lic')]
    return { licenseKey, ids, at: run.at, first: run.firstRequestId }
  }
  const first = make(false)
  expect(make(true)).toStrictEqual(first)
  expect(new Set(first.ids).size).toBe(4)
  expect([runOf(same, false).resumed, runOf(same, true).resumed]).toStrictEqual([false, true])
})

test('values of different kinds do not depend on the order of the calls', () => {
  const same = reserved()
  const one = runOf(same, false)
  const other = runOf(same, true)
  const bytes = one.randomBytes(10)
  const ids = [one.newId('lic'), one.newId('ins')]
  expect([other.newId('ins'), other.newId('lic')]).toStrictEqual(ids.toReversed())
  expect(other.randomBytes(10)).toStrictEqual(bytes)
})

test('the bytes are one sequence, whatever the sizes of the calls', () =>
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 10 }), (sizes) => {
      const same = { ...reserved(), seed: Buffer.alloc(32, 7).toString('base64') }
      const run = runOf(same, false)
      const parts = Buffer.concat(sizes.map((size) => run.randomBytes(size)))
      expect(parts).toStrictEqual(Buffer.from(runOf(same, true).randomBytes(parts.length)))
    }),
  ))

test('two runs make different values', () => {
  const runs = Array.from({ length: 50 }, () => runOf(reserved(), false))
  const made = runs.flatMap((run) => [
    run.newId('lic'),
    run.newId('ins'),
    Buffer.from(run.randomBytes(16)).toString('hex'),
  ])
  expect(new Set(made).size).toBe(150)
})

test('an id of a run is a UUIDv7 of its time', () => {
  const id = runOf(reserved(), false).newId('lic')
  expect(id).toMatch(/^lic_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  const bits = bitsOf(id)
  expect(Number(bits >> 80n)).toBe(Date.parse('2026-03-01T12:00:00.123Z'))
  expect((bits >> 76n) & 0xfn).toBe(7n)
  expect((bits >> 62n) & 0b11n).toBe(0b10n)
})

test('a derived id depends on its parts and the key, and is a UUIDv8', () => {
  const derive = createDeriveId(createSecretKey(Buffer.alloc(32, 1)))
  const id = derive('lic', 'acme', 'a'.repeat(64))
  expect(id).toBe(createDeriveId(createSecretKey(Buffer.alloc(32, 1)))('lic', 'acme', 'a'.repeat(64)))
  expect(id).toMatch(/^lic_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  expect((bitsOf(id) >> 76n) & 0xfn).toBe(8n)
  expect((bitsOf(id) >> 62n) & 0b11n).toBe(0b10n)
  const others = [
    createDeriveId(createSecretKey(Buffer.alloc(32, 2)))('lic', 'acme', 'a'.repeat(64)),
    derive('lic', 'acme', 'b'.repeat(64)),
    derive('lic', 'acm', `e${'a'.repeat(63)}`),
    derive('lic', `acme${'a'.repeat(64)}`),
  ]
  expect(new Set([id, ...others]).size).toBe(5)
})
