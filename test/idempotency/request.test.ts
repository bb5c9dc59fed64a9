/** Two requests are the same when their contents are, in any notation; a key is visible ASCII. */
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isIdempotencyKey,
  type KeyedRequest,
  keyHashOf,
  NotCanonical,
  requestHashOf,
} from '../../src/idempotency/request.ts'

const secret = createSecretKey(Buffer.alloc(32, 1))
const request: KeyedRequest = {
  tenantId: 'acme',
  tokenId: 'tok_1',
  route: 'POST /v1/licenses',
  key: 'order-17',
  params: {},
  query: {},
  body: { productId: 'editor', quantity: 1 },
}
const hex = (hash: Buffer) => hash.toString('hex')

describe('a request', () => {
  test('is the same in any order of its fields', () => {
    const reordered = JSON.parse('{ "quantity": 1.0, "productId": "editor" }') as unknown
    expect(requestHashOf(secret, { ...request, body: reordered })).toStrictEqual(
      requestHashOf(secret, request),
    )
  })

  test('is the same when its JSON means the same', () =>
    fc.assert(
      fc.property(fc.json(), (text) => {
        const spaced = JSON.stringify(JSON.parse(text), null, 3)
        const hashOf = (json: string) =>
          hex(requestHashOf(secret, { ...request, body: JSON.parse(json) as unknown }))
        expect(hashOf(spaced)).toBe(hashOf(text))
      }),
    ))

  test('is different when any part of it differs', () => {
    const bodies = [
      null,
      {},
      [],
      { productId: 'editor' },
      { productId: 'editor', quantity: 2 },
      { productId: 'editor', quantity: '1' },
      { productId: 'editor', quantity: 1, metadata: {} },
      { productId: 'editor', quantity: 1, email: null },
    ]
    const others = [
      ...bodies.map((body) => ({ ...request, body })),
      { ...request, params: { id: 'lic_1' } },
      { ...request, query: { id: 'lic_1' } },
    ]
    expect(new Set([request, ...others].map((one) => hex(requestHashOf(secret, one)))).size).toBe(11)
  })

  test('without a body is the same whether the body is absent or null', () => {
    const none = requestHashOf(secret, { ...request, body: undefined })
    expect(none).toStrictEqual(requestHashOf(secret, { ...request, body: null }))
  })

  test('with an unpaired surrogate, or nested too deeply, has no canonical form', () => {
    const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)) as unknown
    for (const body of [{ name: '\ud800' }, { '\ud800': 1 }, deep]) {
      expect(() => requestHashOf(secret, { ...request, body })).toThrow(NotCanonical)
    }
  })

  test('has a hash that cannot be computed without the secret', () => {
    const other = createSecretKey(Buffer.alloc(32, 2))
    expect(requestHashOf(other, request)).not.toStrictEqual(requestHashOf(secret, request))
    expect(keyHashOf(other, request)).not.toStrictEqual(keyHashOf(secret, request))
  })
})

test('the hash of a key is different for each tenant, token, route and key', () => {
  const others = [
    { ...request, tenantId: 'other' },
    { ...request, tokenId: 'tok_2' },
    { ...request, route: 'POST /v1/licenses/import' },
    { ...request, key: 'order-18' },
    // Parts whose concatenation is the same.
    { ...request, tenantId: 'acmet', tokenId: 'ok_1' },
  ]
  expect(new Set([request, ...others].map((one) => hex(keyHashOf(secret, one)))).size).toBe(6)
  // The contents belong to the request hash, and not to the key hash.
  expect(keyHashOf(secret, { ...request, body: 1, params: 2, query: 3 })).toStrictEqual(
    keyHashOf(secret, request),
  )
})

test.each([
  ['a', true],
  ['!~', true],
  ['x'.repeat(255), true],
  ['7c5b1f5e-0d6c-4a3e-9d53-2f3f2a0d8c11', true],
  ['', false],
  ['x'.repeat(256), false],
  ['a b', false],
  ['a\tb', false],
  ['ä', false],
  ['\u007f', false],
  ['a\n', false],
])('%j is a key: %s', (text, is) => expect(isIdempotencyKey(text)).toBe(is))
