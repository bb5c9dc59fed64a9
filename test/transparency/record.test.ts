/** Guarantee: the bytes of an event are the same however its JSON was written, and other for every other event. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type EventRecord, recordBytes } from '../../src/transparency/record.ts'

const event: EventRecord = {
  stream: 'license-lic_1',
  revision: 3,
  id: '0b1f6f0e-5d0c-4f8e-9a51-7f3d4f4b6a10',
  type: 'LicenseRevoked',
  data: { reason: 'fraud', at: '2026-11-23T00:00:00.000Z', seats: [1, 2.5, 1e21], '\u20ac': '\u00f6' },
  metadata: { actor: 'token:tok_1' },
}

test('are the canonical form of RFC 8785', () => {
  expect(Buffer.from(recordBytes(event)).toString()).toBe(
    '{"data":{"at":"2026-11-23T00:00:00.000Z","reason":"fraud","seats":[1,2.5,1e+21],"€":"ö"},' +
      '"id":"0b1f6f0e-5d0c-4f8e-9a51-7f3d4f4b6a10","metadata":{"actor":"token:tok_1"},"revision":3,' +
      '"stream":"license-lic_1","type":"LicenseRevoked"}',
  )
})

test('do not depend on the order of fields', () => {
  const shuffled = Object.fromEntries(Object.entries(event).toReversed())
  fc.assert(
    fc.property(fc.jsonValue(), (data) => {
      const there: unknown = JSON.parse(JSON.stringify(data))
      expect(recordBytes({ ...event, ...shuffled, data: there })).toEqual(recordBytes({ ...event, data }))
    }),
  )
})

test.each([
  ['stream', { stream: 'license-lic_2' }],
  ['revision', { revision: 4 }],
  ['id', { id: '0b1f6f0e-5d0c-4f8e-9a51-7f3d4f4b6a11' }],
  ['type', { type: 'LicenseReinstated' }],
  ['data', { data: { reason: 'Fraud' } }],
  ['metadata', { metadata: { actor: 'token:tok_2' } }],
])('change with the %s', (_name, change) => {
  expect(recordBytes({ ...event, ...change })).not.toEqual(recordBytes(event))
})
