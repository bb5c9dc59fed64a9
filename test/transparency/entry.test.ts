/**
 * Guarantee: an event decides by itself what its leaf is made of. Those from before salts keep their leaf; of those with a salt,
 * the place and all but the hash of a key can be proved while that hash stays hidden.
 */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { entryOf, entryOfParts, openPart, saltOf, sealedHash } from '../../src/transparency/entry.ts'
import { type EventRecord, recordBytes } from '../../src/transparency/record.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const salt = '00112233445566778899aabbccddeeff'
const keyHash = 'ab'.repeat(32)
const record: EventRecord = {
  stream: 'license-lic_1',
  revision: 4,
  id: '0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10',
  type: 'LicenseImported',
  data: { keyHash, deviceLimit: 3 },
  metadata: { schema: 1, salt },
}
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

test('the entry of an event with a salt names its place, and has the hashes of both parts', () => {
  const open =
    '{"data":{"deviceLimit":3},"id":"0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10","metadata":{"schema":1},' +
    '"revision":4,"stream":"license-lic_1","type":"LicenseImported"}'
  const sealed = `{"keyHash":"${keyHash}","salt":"${salt}"}`
  expect(textOf(entryOf(record))).toBe(
    `{"leaf":2,"open":"${sha256(open)}","revision":4,"sealed":"${sha256(sealed)}","stream":"license-lic_1",` +
      '"type":"LicenseImported"}',
  )
  expect(entryOfParts(openPart(record), sealedHash(record))).toStrictEqual(entryOf(record))
  expect(sealedHash({ ...record, data: [] })).toBe(sha256(`{"salt":"${salt}"}`))
})

describe('without a salt, the entry is the record', () => {
  test.each([
    ['no metadata', null],
    ['none', { schema: 1 }],
    ['a short one', { salt: salt.slice(1) }],
    ['one in capitals', { salt: salt.toUpperCase() }],
    ['a number', { salt: 1 }],
    ['a list', [salt]],
  ])('%s', (_, metadata) => {
    expect(saltOf({ ...record, metadata })).toBeUndefined()
    expect(entryOf({ ...record, metadata })).toStrictEqual(recordBytes({ ...record, metadata }))
  })
})

test.each([
  ['stream', { stream: 'license-lic_2' }],
  ['revision', { revision: 5 }],
  ['type', { type: 'LicenseMinted' }],
  ['id', { id: '0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a11' }],
  ['data', { data: { keyHash, deviceLimit: 4 } }],
  ['hash of the key', { data: { keyHash: 'ac'.repeat(32), deviceLimit: 3 } }],
  ['hash of the key, left out', { data: { deviceLimit: 3 } }],
  ['metadata', { metadata: { schema: 2, salt } }],
  ['salt', { metadata: { schema: 1, salt: salt.replace('0', '1') } }],
])('another %s makes another entry', (_, change) => {
  expect(entryOf({ ...record, ...change })).not.toStrictEqual(entryOf(record))
})

test('a member named __proto__ is one like any other', () => {
  const data: unknown = JSON.parse('{"__proto__":{"a":1},"keyHash":"x"}')
  expect(textOf(recordBytes(openPart({ ...record, data })))).toContain('"data":{"__proto__":{"a":1}}')
})
