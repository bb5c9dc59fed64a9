/**
 * An event read from the log either fits its current schema, after upcasting, or is unreadable with the names
 * of the invalid fields. Reading never throws and never reveals a value.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  categoryOf,
  confirmationStream,
  integrationStream,
  licenseStream,
  memberStream,
  ownPrefixes,
  productStream,
  tenantStream,
  testPurchaseStream,
  tokenStream,
} from '../../src/domain/streams.ts'
import { codec, createCodec, type StoredEvent } from '../../src/ledger/codec.ts'

const at = '2026-03-01T12:00:00.000Z'
const metadata = {
  requestId: 'req_1',
  actor: 'token:tok_1',
  causationId: 'req_1',
  correlationId: 'req_1',
  schema: 1,
  at,
}
const secret = 'ada@example.com'

/** A valid event in a tenant's stream, with the given changes. */
const stored = (own: Partial<StoredEvent> = {}): StoredEvent => ({
  id: 'event-1',
  stream: 'tenant-acme',
  revision: 3,
  position: 12_345_678_901_234_567_890n,
  type: 'TenantSuspended',
  data: { reason: null, at },
  metadata,
  ...own,
})

const unreadable = ({ id, stream, revision, position, type }: StoredEvent, problem: string) => ({
  readable: false,
  id,
  stream,
  revision,
  position,
  type,
  problem,
})

/** Reads an invalid event and returns its problem. */
function problemOf(own: Partial<StoredEvent>): string {
  const entry = codec.decode(stored(own))
  if (entry.readable) throw new Error('it was read')
  return entry.problem
}

describe('a valid event', () => {
  test('is read with its position and its cause', () =>
    expect(codec.decode(stored())).toStrictEqual({
      readable: true,
      id: 'event-1',
      stream: 'tenant-acme',
      revision: 3,
      position: 12_345_678_901_234_567_890n,
      category: 'tenant',
      event: { type: 'TenantSuspended', data: { reason: null, at } },
      metadata,
    }))

  test('is read when its metadata has additional fields', () =>
    expect(codec.decode(stored({ metadata: { ...metadata, region: 'eu' } }))).toMatchObject({
      readable: true,
      metadata,
    }))

  test('of one category is unreadable in a stream of another', () => {
    const event = stored({ stream: 'token-tok_1' })
    expect(codec.decode(event)).toStrictEqual(
      unreadable(event, 'does not fit its schema: type (invalid_union)'),
    )
  })
})

describe('an invalid event is unreadable, and the problem names only the field', () => {
  test('a stream of an unknown category', () =>
    expect(problemOf({ stream: 'invoice-1' })).toBe('invoice-1 is in no known category'))

  test.each(['TenantExploded', 'tenantsuspended', ''])('an unknown type: %j', (type) => {
    const event = stored({ type })
    expect(codec.decode(event)).toStrictEqual(
      unreadable(event, 'does not fit its schema: type (invalid_union)'),
    )
  })

  test('an unknown field', () => {
    const problem = problemOf({ data: { reason: null, at, contact: secret } })
    expect(problem).toBe('does not fit its schema: data.contact (unrecognized_keys)')
  })

  test('a missing field', () =>
    expect(problemOf({ data: { reason: secret } })).toBe('does not fit its schema: data.at (invalid_type)'))

  test('a field of another type', () =>
    expect(problemOf({ data: { reason: [secret], at: secret } })).toBe(
      'does not fit its schema: data.reason (invalid_type), data.at (invalid_format)',
    ))

  test.each([[undefined], [null], [secret], [[secret]], [7]])('data that is no object: %j', (data) =>
    expect(problemOf({ data })).toBe('does not fit its schema: data (invalid_type)'),
  )

  test('metadata that is missing, or no object', () => {
    for (const value of [undefined, null, secret]) {
      expect(problemOf({ metadata: value })).toBe('does not fit its schema: metadata (invalid_type)')
    }
  })

  test.each([
    ['requestId', 7, 'invalid_type'],
    ['actor', secret, 'invalid_format'],
    ['causationId', '', 'too_small'],
    ['correlationId', null, 'invalid_type'],
    ['schema', 0, 'too_small'],
    ['schema', 1.5, 'invalid_type'],
    ['at', secret, 'invalid_format'],
  ])('metadata whose %s is %j', (field, value, code) =>
    expect(problemOf({ metadata: { ...metadata, [field]: value } })).toMatch(
      new RegExp(`^does not fit its schema: (metadata\\.)?${field} \\(${code}\\)$`),
    ),
  )

  test.each(Object.keys(metadata))('metadata that lacks its %s', (field) => {
    const rest = Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== field))
    expect(problemOf({ metadata: rest })).toMatch(
      new RegExp(`^does not fit its schema: (metadata\\.)?${field} \\(invalid_type\\)$`),
    )
  })

  test('a shape newer than this version knows', () =>
    expect(problemOf({ metadata: { ...metadata, schema: 2 } })).toBe(
      'TenantSuspended has schema 2, newer than this version of keyledger knows',
    ))

  test('a problem deep inside', () => {
    const data = { keyType: { keyTypeId: 'pro', duration: { count: secret, unit: 'day' } }, at }
    expect(problemOf({ stream: 'product-acme.editor', type: 'KeyTypeAdded', data })).toContain(
      'data.keyType.duration.count (invalid_type)',
    )
  })
})

test('reading any event never throws and never reveals a value', () =>
  fc.assert(
    fc.property(
      fc.constantFrom('tenant-a', 'member-a', 'product-a.b', 'license-a', 'token-a', 'tenant', '-', ''),
      fc.oneof(
        fc.string(),
        fc.constantFrom('TenantCreated', 'LicenseMinted', 'TokenCreated', 'KeyTypeAdded'),
      ),
      fc.anything({
        values: [fc.constant(`v ${secret}`), fc.integer()],
        key: fc.constantFrom('at', 'reason', 'x'),
      }),
      fc.option(fc.anything(), { nil: undefined }),
      (stream, type, data, other) => {
        const event = stored({ stream, type, data, metadata: other === undefined ? metadata : other })
        const entry = codec.decode(event)
        expect(entry.readable).toBe(false)
        if (!entry.readable) expect(entry.problem).not.toContain(secret)
      },
    ),
    { numRuns: 1000 },
  ))

describe('old shapes', () => {
  // Schema 1 had no reason, schema 2 called it `why`.
  const historical = createCodec({
    TenantSuspended: [
      (data) => ({ ...(data as object), why: 'not recorded' }),
      (data) => {
        const { why, ...rest } = data as { why: unknown }
        return { ...rest, reason: why }
      },
    ],
  })
  const read = (schema: number, data: unknown) =>
    historical.decode(stored({ data, metadata: { ...metadata, schema } }))

  test.each([
    [1, { at }, 'not recorded'],
    [2, { at, why: 'unpaid' }, 'unpaid'],
    [3, { at, reason: 'unpaid' }, 'unpaid'],
  ])('of schema %i are read in today’s shape', (schema, data, reason) =>
    expect(read(schema, data)).toMatchObject({
      readable: true,
      event: { type: 'TenantSuspended', data: { reason, at } },
      metadata: { ...metadata, schema },
    }),
  )

  test('are upcast from their own schema on', () => {
    expect(read(2, { at, reason: 'unpaid' })).toMatchObject({ readable: false })
    expect(read(3, { at, why: 'unpaid' })).toMatchObject({ readable: false })
    expect(read(4, { at, reason: 'unpaid' })).toMatchObject({
      readable: false,
      problem: 'TenantSuspended has schema 4, newer than this version of keyledger knows',
    })
  })

  test('do not affect other types', () => {
    expect(historical.schemaOf('TenantSuspended')).toBe(3)
    expect(historical.schemaOf('TenantClosed')).toBe(1)
    expect(historical.decode(stored({ type: 'TenantClosed' }))).toMatchObject({ readable: true })
  })

  test('that an upcaster cannot convert are unreadable, without their values', () => {
    const failing = createCodec({
      TenantSuspended: [(data) => JSON.parse((data as { json: string }).json) as unknown],
    })
    const entry = failing.decode(stored({ data: { json: secret } }))
    if (entry.readable) throw new Error('it was read')
    expect(entry.problem).toContain('TenantSuspended')
    expect(entry.problem).not.toContain(secret)
  })

  test('do not exist for a type named like an object property', () => {
    for (const type of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      expect(codec.schemaOf(type)).toBe(1)
      expect(problemOf({ type })).toBe('does not fit its schema: type (invalid_union)')
    }
  })
})

describe('a stream’s category', () => {
  test('is known from each name of a ledger’s stream', () => {
    expect(categoryOf(tenantStream('acme-tools'))).toBe('tenant')
    expect(categoryOf(memberStream('mem_1'))).toBe('member')
    expect(categoryOf(tokenStream('tok_1'))).toBe('token')
    expect(categoryOf(confirmationStream('cnf_1'))).toBe('confirmation')
    expect(categoryOf(licenseStream('lic_1'))).toBe('license')
    expect(categoryOf(integrationStream('acme-tools', 'stripe'))).toBe('integration')
    expect(categoryOf(testPurchaseStream('tp_1'))).toBe('testpurchase')
    expect(categoryOf(productStream('acme-tools', 'my-editor'))).toBe('product')
  })

  test.each(['', '-', '-tenant', 'tenant', 'invoice-1', 'Tenant-1', '$tenant-1', 'constructor-1'])(
    'is none for %j',
    (stream) => expect(categoryOf(stream)).toBeUndefined(),
  )

  test('is none for a name without a hyphen, even one letter longer than a category', () => {
    for (const stream of ['tenant', 'tenants', 'licenses', 'productX'])
      expect(categoryOf(stream)).toBeUndefined()
  })

  test('is in the prefixes that filter the log, each ending in a hyphen', () =>
    expect(ownPrefixes).toStrictEqual([
      'tenant-',
      'member-',
      'role-',
      'signin-',
      'scim-',
      'product-',
      'license-',
      'token-',
      'login-',
      'customer-',
      'reseller-',
      'webhook-',
      'mail-',
      'wording-',
      'portal-',
      'integration-',
      'testpurchase-',
      'trial-',
      'confirmation-',
      'signing-',
      'sale-',
      'notice-',
      'delivery-',
      'replay-',
      'audit-',
      'subject-',
      'ledger-',
      'notary-',
      'meter-',
    ]))

  test('the stream of a product names its tenant and its product apart', () =>
    expect(productStream('a-b', 'c')).not.toBe(productStream('a', 'b-c')))
})
