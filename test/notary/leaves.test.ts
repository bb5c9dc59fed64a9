// Guarantee: every event has a leaf, whatever its bytes are, and events that differ in any byte that matters have other leaves.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { RawEvent } from '../../src/ledger/raw/event.ts'
import { leafOf, recordOf } from '../../src/notary/leaves.ts'
import { entryOf } from '../../src/transparency/entry.ts'
import { leafHash } from '../../src/transparency/tree/edge.ts'
import { readRecord } from '../../src/verifier/record.ts'

const event = (data: Uint8Array | string, given: Partial<RawEvent> = {}): RawEvent => ({
  id: '0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10',
  stream: 'license-lic_1',
  revision: 4,
  position: 99n,
  type: 'LicenseMinted',
  isJson: true,
  data: Buffer.from(data),
  metadata: Buffer.from('{"schema":1}'),
  ...given,
})

const record = (of: RawEvent): unknown => JSON.parse(Buffer.from(recordOf(of)).toString())

test('the record is canonical JSON: other spaces and another order of the same data give the same leaf', () => {
  expect(Buffer.from(recordOf(event('{"b": 1, "a": [2]}'))).toString()).toBe(
    '{"data":{"a":[2],"b":1},"id":"0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10","metadata":{"schema":1},' +
      '"revision":4,"stream":"license-lic_1","type":"LicenseMinted"}',
  )
  expect(leafOf(event('{"b": 1, "a": [2]}')).hash).toStrictEqual(leafOf(event('{"a":[2],"b":1}')).hash)
})

describe.each([
  ['half a surrogate pair', '{"name":"\\ud83d"}'],
  ['half a pair in a name', '{"\\udc00":1}'],
  ['no JSON', '{"name":'],
  ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['too deep for a canonical form', '['.repeat(20_000) + ']'.repeat(20_000)],
])('data that is %s', (_, data) => {
  const base64 = Buffer.from(data).toString('base64')

  test('is taken as base64', () => {
    expect(record(event(data))).toMatchObject({ data: { base64 }, metadata: { schema: 1 } })
  })

  test('is so in metadata, too', () => {
    const metadata = Buffer.from(data)
    expect(record(event('{}', { metadata }))).toMatchObject({ data: {}, metadata: { base64 } })
  })
})

test('an event without a salt keeps the leaf that it always had', () => {
  expect(Buffer.from(leafOf(event('{"deviceLimit":3}')).hash).toString('hex')).toBe(
    createHash('sha256')
      .update(Buffer.of(0))
      .update(
        '{"data":{"deviceLimit":3},"id":"0f4f3c2e-7d4b-4a3e-9a52-0e9f8b6f2a10","metadata":{"schema":1},',
      )
      .update('"revision":4,"stream":"license-lic_1","type":"LicenseMinted"}')
      .digest('hex'),
  )
})

test('the salt of an event decides, and not the time or the order in which leaves are computed', () => {
  const metadata = Buffer.from('{"schema":1,"salt":"00112233445566778899aabbccddeeff"}')
  const [old, salted] = [event('{"deviceLimit":3}'), event('{"deviceLimit":3}', { metadata })]
  const leaves = [salted, old, salted, old].map((one) => Buffer.from(leafOf(one).hash).toString('hex'))
  expect(leaves.slice(0, 2)).toStrictEqual(leaves.slice(2))
  expect(record(salted)).toMatchObject({ metadata: { salt: '00112233445566778899aabbccddeeff' } })
  expect(leafOf(salted).hash).not.toStrictEqual(leafHash(recordOf(salted)))
  const broken = event('{"name":"\\ud83d"}', { metadata })
  expect(leafOf(broken).hash).toStrictEqual(
    leafHash(entryOf(readRecord(Buffer.from(recordOf(broken)).toString()))),
  )
})

test('two events with different invalid bytes have different leaves', () => {
  const [one, other] = [event(Buffer.from([0x22, 0xff, 0x22])), event(Buffer.from([0x22, 0xfe, 0x22]))]
  expect(leafOf(one).hash).not.toStrictEqual(leafOf(other).hash)
})

test('bytes that do not claim to be JSON are base64, and no metadata is null', () => {
  expect(record(event('{}', { isJson: false, metadata: new Uint8Array() }))).toMatchObject({
    data: { base64: 'e30=' },
    metadata: null,
  })
})
