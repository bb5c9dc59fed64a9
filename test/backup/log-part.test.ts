// Guarantee: an event is read from a backup with the same bytes, whatever they are.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLogDigest, eventsIn, lineOf } from '../../src/backup/log-part.ts'
import type { RawEvent } from '../../src/ledger/raw/event.ts'

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 50 }),
  fc.json().map((text) => new Uint8Array(Buffer.from(text))),
  fc.string({ unit: 'binary' }).map((text) => new Uint8Array(Buffer.from(text))),
  fc.constant(new Uint8Array(Buffer.from('\ufeff{"a":1}\r\n\u2028'))),
)

const anyEvent: fc.Arbitrary<RawEvent> = fc.record({
  id: fc.constant(null).map(() => randomUUID()),
  stream: fc.string({ minLength: 1 }),
  revision: fc.nat(),
  position: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  type: fc.string({ minLength: 1 }),
  isJson: fc.boolean(),
  data: bytes,
  metadata: bytes,
})

const plain = (event: RawEvent) => ({
  ...event,
  data: Buffer.from(event.data).toString('hex'),
  metadata: Buffer.from(event.metadata).toString('hex'),
})

test('any events, one per line', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 5 }), (events) => {
      const part = Buffer.from(events.map(lineOf).join(''))
      expect(eventsIn(part).map(plain)).toStrictEqual(events.map(plain))
    }),
  )
})

test('two logs that differ in where data ends and metadata begins have different digests', () => {
  const event = { id: randomUUID(), stream: 'a-1', revision: 0, type: 'A', isJson: true }
  const digestOf = (data: string, metadata: string) => {
    const digest = createLogDigest()
    digest.add({ ...event, data: Buffer.from(data), metadata: Buffer.from(metadata) })
    return digest.hex()
  }
  expect(digestOf('ab', 'c')).not.toBe(digestOf('a', 'bc'))
})
