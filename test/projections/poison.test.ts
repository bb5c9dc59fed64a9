/**
 * Guarantee: an event that cannot be read or applied parks its own stream and no other. Parked streams are reported, and
 * no command decides on an incomplete history.
 */
import { binaryEvent, type EventData, jsonEvent } from '@eventstore/db-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense, listDevices } from '../../projections/licenses/queries.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { projectionStatus } from '../../projections/runner/status.ts'
import { verify } from '../../projections/runner/verify.ts'
import { findTenant } from '../../projections/tenants.ts'
import { LedgerUnavailable } from '../../src/ledger/connection/unavailable.ts'
import { type Answer, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { appendRaw, beginning, commandLicense, noProgress, uniqueId } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Default', deviceLimit: 9 }] })
})
afterAll(() => api.close())

const metadata = {
  requestId: 'req_poison',
  actor: 'system:test',
  causationId: 'req_poison',
  correlationId: 'req_poison',
  schema: 1,
  at: beginning,
}
const activation = {
  deviceId: 'poisoned',
  instanceId: 'ins_poisoned',
  installId: null,
  name: 'A device',
  platform: null,
  at: beginning,
}
const event = (type: string, data: unknown, own: unknown = metadata): EventData =>
  jsonEvent({ type, data: data as Record<string, unknown>, metadata: own as Record<string, unknown> })
const good = event('DeviceActivated', { ...activation, deviceId: 'later', instanceId: 'ins_later' })

const validate = (licenseKey: string): Promise<Answer> =>
  api.ask('POST', '/v1/licenses/validate', {
    token: tenant.token,
    body: { product_id: 'editor', license_key: licenseKey },
  })

const parkedStream = async (stream: string) => {
  const { parked } = await projectionStatus(api.ledger.db, api.ledger.ports.ledger)
  return parked.find((one) => one.stream === stream)
}

/** Events that no version of keyledger wrote, each appended to a valid license, and why they park the stream. */
const poisons: [what: string, poison: EventData, problem: RegExp][] = [
  ['an unknown type', event('LicensePainted', { at: beginning }), /^does not fit its schema: type/],
  ['an extra field', event('DeviceActivated', { ...activation, extra: 1 }), /^does not fit its schema: data/],
  ['a missing field', event('LicenseRevoked', { at: beginning }), /^does not fit its schema: data\.reason/],
  ['no metadata', event('LicenseRevoked', { reason: null, at: beginning }, {}), /^does not fit its schema/],
  [
    'a newer schema version',
    event('LicenseRevoked', { reason: null, at: beginning }, { ...metadata, schema: 99 }),
    /newer than this version/,
  ],
  [
    'malformed JSON',
    binaryEvent({ type: 'LicenseRevoked', data: Buffer.from('{"reason":'), metadata: Buffer.from('{}') }),
    /^does not fit its schema/,
  ],
  [
    'invalid UTF-8',
    binaryEvent({
      type: 'LicenseRevoked',
      data: Buffer.from([0xff, 0xfe, 0x00]),
      metadata: Buffer.from([0xff]),
    }),
    /^does not fit its schema/,
  ],
  [
    'NUL, which Postgres rejects',
    event('DeviceActivated', { ...activation, name: 'a\u0000' }),
    /^cannot be applied$/,
  ],
  [
    'half of a surrogate pair, which Postgres rejects',
    event('DeviceActivated', { ...activation, deviceId: '\ud800' }),
    /^cannot be applied$/,
  ],
  [
    'a year that Postgres does not support',
    event('DeviceActivated', { ...activation, at: '0000-01-01T00:00:00.000Z' }),
    /^cannot be applied$/,
  ],
]

/** A text that Postgres cannot compress to a size that fits an index. */
function incompressible(length: number): string {
  let text = ''
  for (let n = 0; text.length < length; n++) text += ((n * 2_654_435_761) >>> 0).toString(36)
  return text
}

test.each(poisons)(
  'a license with %s is parked from that event on; other licenses are not',
  (_, poison, problem) => expectParked(poison, problem),
)

async function expectParked(poison: EventData, problem: RegExp): Promise<void> {
  const { ledger, ask } = api
  const { id, licenseKey } = await mint(ask, tenant.token, 'editor')
  const other = await mint(ask, tenant.token, 'editor')
  const stream = `license-${id}`
  expect(await validate(licenseKey)).toMatchObject({ status: 200, body: { valid: true } })
  await appendRaw(ledger, stream, [poison, good], 0n)
  await ledger.readModels.catchUp()

  expect(await parkedStream(stream)).toStrictEqual({
    stream,
    revision: 1,
    position: expect.stringMatching(/^\d+$/) as string,
    type: poison.type,
    problem: expect.stringMatching(problem) as string,
    parkedAt: expect.any(String) as string,
  })
  expect(ledger.parked.filter((one) => one.stream === stream)).toHaveLength(1)
  // Its later events are not applied.
  expect(await listDevices(ledger.db, id)).toStrictEqual([])
  expect(await findLicense(ledger.db, tenant.tenantId, id)).toMatchObject({ revision: 0 })
  // No call reports it as valid or changes it.
  expect(await validate(licenseKey)).toMatchObject({
    status: 503,
    body: { error: { code: 'unavailable' } },
    headers: { 'retry-after': '1' },
  })
  const device = { product_id: 'editor', license_key: licenseKey, device_id: 'new' }
  for (const what of ['activate', 'deactivate']) {
    const answer = await ask('POST', `/v1/licenses/${what}`, { token: tenant.token, body: device })
    expect({ what, status: answer.status }).toStrictEqual({ what, status: 503 })
  }

  // Other licenses are not affected.
  expect(await validate(other.licenseKey)).toMatchObject({ body: { valid: true } })
  await commandLicense(ledger, other.id, { type: 'RevokeLicense', reason: null, at: beginning })
  expect(await validate(other.licenseKey)).toMatchObject({ body: { valid: false, status: 'revoked' } })
}

test('a rebuild parks the streams that cannot be read, and applies the rest', async () => {
  const { ledger, ask } = api
  const { id, licenseKey } = await mint(ask, tenant.token, 'editor')
  await appendRaw(ledger, `license-${id}`, [good, event('LicensePainted', {}), good], 0n)
  await ledger.readModels.catchUp()
  const parkedBefore = (await projectionStatus(ledger.db, ledger.ports.ledger)).parked
  await rebuild(ledger.db, ledger.ports.ledger, noProgress)
  const parkedAfter = (await projectionStatus(ledger.db, ledger.ports.ledger)).parked
  const withoutTime = (parked: typeof parkedAfter) => parked.map(({ parkedAt: _, ...rest }) => rest)
  expect(withoutTime(parkedAfter)).toStrictEqual(withoutTime(parkedBefore))
  expect(await findLicense(ledger.db, tenant.tenantId, id)).toMatchObject({ revision: 1 })
  expect(await validate(licenseKey)).toMatchObject({ status: 503 })
  const { differences } = await verify(ledger.db, ledger.ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
})

test('events before an unreadable one are applied, also in a batch with one that Postgres rejects', async () => {
  const { ledger, ask } = api
  const unreadable = await mint(ask, tenant.token, 'editor')
  const refused = await mint(ask, tenant.token, 'editor')
  // Both in one batch, so that the events have to be applied one at a time.
  await appendRaw(ledger, `license-${unreadable.id}`, [good, event('LicensePainted', {})], 0n)
  await appendRaw(
    ledger,
    `license-${refused.id}`,
    [event('DeviceActivated', { ...activation, name: '\u0000' })],
    0n,
  )
  await ledger.readModels.catchUp()
  expect(await findLicense(ledger.db, tenant.tenantId, unreadable.id)).toMatchObject({ revision: 1 })
  expect(await listDevices(ledger.db, unreadable.id)).toHaveLength(1)
  // Its state before the unreadable event is known, its present state is not.
  for (const what of ['', '/explain']) {
    const statusAsOf = async (asOf: string) =>
      (await ask('GET', `/v1/licenses/${unreadable.id}${what}?asOf=${asOf}`, { token: tenant.token })).status
    expect([await statusAsOf('1'), await statusAsOf(ledger.clock.now().toISOString())]).toStrictEqual([
      200, 503,
    ])
  }
  const { differences } = await verify(ledger.db, ledger.ports.ledger, () => undefined)
  expect(differences).toStrictEqual([])
})

test('requests get 503 and commands fail while the tenant or the token has an unreadable event', async () => {
  const own = await makeTenant(api.ledger)
  await appendRaw(api.ledger, `tenant-${own.tenantId}`, [event('TenantPainted', {})], 0n)
  await api.ledger.readModels.catchUp()
  expect(await api.ask('GET', '/v1/tokens/verify', { token: own.token })).toMatchObject({ status: 503 })
  expect(await findTenant(api.ledger.db, own.tenantId)).toMatchObject({ status: 'active' })
  const { suspendTenant } = await import('../../src/commands/tenants.ts')
  const suspend = suspendTenant(api.ledger.ports, own.tenantId, null, {
    requestId: 'r',
    actor: 'system:test',
  })
  await expect(suspend).rejects.toBeInstanceOf(LedgerUnavailable)

  const other = await makeTenant(api.ledger)
  await appendRaw(api.ledger, `token-${other.tokenId}`, [event('TokenPainted', {})], 0n)
  await api.ledger.readModels.catchUp()
  expect(await api.ask('GET', '/v1/tokens/verify', { token: other.token })).toMatchObject({ status: 503 })
})

test('streams of other applications in the same event store are skipped', async () => {
  const { ledger } = api
  const before = ledger.parked.length
  await appendRaw(ledger, uniqueId('orders'), [event('OrderPlaced', { nothing: 'of ours' })])
  await appendRaw(ledger, `order-${uniqueId('1')}`, [binaryEvent({ type: 'x', data: Buffer.from([0xff]) })])
  const { id } = await mint(api.ask, tenant.token, 'editor')
  expect(await findLicense(ledger.db, tenant.tenantId, id)).toBeDefined()
  expect(ledger.parked).toHaveLength(before)
})

test('a license with a string that is too long for an index is parked', () =>
  expectParked(
    event('DeviceActivated', { ...activation, deviceId: incompressible(9000) }),
    /^cannot be applied$/,
  ))
