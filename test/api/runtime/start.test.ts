/**
 * Guarantee: the term of a license of such a key type starts with its first activation, on either interface. Until then the key
 * is valid without an end; from then on every answer has the expiry.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning, eventsIn } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { importRows, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let runtime: string
let app: App
const month = { count: 1, unit: 'month' } as const
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  runtime = await tenant.tokenWith('licenses:runtime')
  const { tenantId, token } = tenant
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Later', duration: month, startsAt: 'first_activation', deviceLimit: 2 },
      { name: 'Ever', duration: null },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(later))

const later = '2026-03-10T12:00:00.250Z'
const end = '2026-04-10T12:00:00.000Z'
const endSeconds = Date.parse(end) / 1000

const call = async (what: 'activate' | 'validate', asked: object) =>
  (
    await api.ask('POST', `/v1/licenses/${what}`, {
      token: runtime,
      body: { product_id: 'editor', ...asked },
    })
  ).body
const licenseOf = async (id: string) =>
  z
    .object({ license: z.looseObject({ expiresAt: z.string().nullable() }) })
    .parse((await api.ask('GET', `/v1/licenses/${id}`, { token: tenant.token })).body).license
const make = (fields: object = {}) => mint(api.ask, tenant.token, 'editor', { ...fields })
const eventsOf = async (id: string) =>
  (await eventsIn(api.ledger.ports.ledger, `license-${id}`)).flatMap((entry) =>
    entry.readable ? [entry.event.type] : [],
  )
const explain = async (id: string) =>
  (await api.ask('GET', `/v1/licenses/${id}/explain`, { token: tenant.token })).body

test('a server’s first activation starts the term, and answers its end', async () => {
  api.ledger.clock.set(beginning)
  const { id, licenseKey: license_key } = await make()
  expect(await licenseOf(id)).toMatchObject({ status: 'active', expiresAt: null, startsWith: month })
  expect(await call('validate', { license_key })).toMatchObject({
    valid: true,
    status: 'active',
    expires_at: null,
  })
  expect(await explain(id)).toMatchObject({
    explanation: {
      validate: {
        because: 'valid: the license is active and expires 1 month after the first activation',
        events: [{ event: 'license.created' }],
      },
    },
  })
  api.ledger.clock.set(later)
  const started = { activated: true, status: 'active', expires_at: endSeconds }
  expect(await call('activate', { license_key, device_id: 'one' })).toMatchObject(started)
  const { startsWith, ...license } = await licenseOf(id)
  expect({ startsWith, ...license }).toMatchObject({ startsWith: undefined, expiresAt: end })
  api.ledger.clock.advance(86_400_000)
  expect(await call('activate', { license_key, device_id: 'two' })).toMatchObject(started)
  expect(await call('activate', { license_key, device_id: 'one' })).toMatchObject(started)
  expect(await eventsOf(id)).toStrictEqual([
    'LicenseMinted',
    'DeviceActivated',
    'LicenseStarted',
    'DeviceActivated',
  ])
  expect(await explain(id)).toMatchObject({
    explanation: { validate: { events: [{ event: 'license.updated' }] } },
  })
  api.ledger.clock.set(end)
  expect(await call('validate', { license_key, device_id: 'one' })).toMatchObject({
    valid: false,
    status: 'expired',
    expires_at: endSeconds,
  })
})

test('an app’s first activation starts the term, and its lease ends with it', async () => {
  const { id, licenseKey: license_key } = await make()
  api.ledger.clock.set('2026-03-10T12:00:00.250Z')
  const activated = await app.post('activate', { license_key, instance_name: 'MacBook' })
  expect(activated.body).toMatchObject({ activated: true, license_expires_at: endSeconds })
  const { instance_id } = z.object({ instance_id: z.string() }).parse(activated.body)
  api.ledger.clock.set('2026-04-09T12:00:00.000Z')
  expect((await app.post('validate', { license_key, instance_id })).body).toMatchObject({
    valid: true,
    license_expires_at: endSeconds,
    lease: { expiresAt: endSeconds },
  })
  expect(await eventsOf(id)).toStrictEqual(['LicenseMinted', 'DeviceActivated', 'LicenseStarted'])
})

test('a repeated request with one Idempotency-Key answers the same end', async () => {
  const { licenseKey: license_key } = await make()
  const body = { product_id: 'editor', license_key, device_id: 'one' }
  const ask = () =>
    api.ask('POST', '/v1/licenses/activate', {
      token: runtime,
      body,
      headers: { 'idempotency-key': license_key },
    })
  const first = await ask()
  api.ledger.clock.advance(60_000)
  const second = await ask()
  expect(first.body).toMatchObject({ activated: true, expires_at: endSeconds })
  expect(second.text).toBe(first.text)
})

test('an expiry that is sent with the mint, or set later, leaves nothing to wait', async () => {
  const explicit = await make({ expiresAt: '2027-01-01T00:00:00.000Z' })
  const edited = await make()
  const forever = await make()
  const change = (id: string, body: object) =>
    api.ask('PATCH', `/v1/licenses/${id}`, { token: tenant.token, body })
  await change(edited.id, { metadata: { order: '1' } })
  expect(await licenseOf(edited.id)).toMatchObject({ startsWith: month })
  await change(edited.id, { keyTypeId: 'ever' })
  expect(await licenseOf(edited.id)).toMatchObject({ keyTypeId: 'ever', startsWith: month })
  await change(edited.id, { expiresAt: '2027-02-01T00:00:00.000Z' })
  await change(forever.id, { expiresAt: null })
  for (const [{ id, licenseKey: license_key }, expiresAt] of [
    [explicit, '2027-01-01T00:00:00.000Z'],
    [edited, '2027-02-01T00:00:00.000Z'],
    [forever, null],
  ] as const) {
    await call('activate', { license_key, device_id: 'one' })
    const license = await licenseOf(id)
    expect(license).toMatchObject({ expiresAt })
    expect(license).not.toHaveProperty('startsWith')
    expect(await eventsOf(id)).not.toContain('LicenseStarted')
  }
})

test('an imported license has its dates: its duration counts from its own issue', async () => {
  const rows = [{ licenseKey: 'IMPORTED-START-1', createdAt: '2026-03-01T00:00:00.000Z' }]
  const { results } = await importRows(api.ask, tenant.token, 'editor', rows)
  const license = await licenseOf(results[0]?.id ?? '')
  expect(license).toMatchObject({ expiresAt: '2026-04-01T00:00:00.000Z' })
  expect(license).not.toHaveProperty('startsWith')
})

test('a key type without a duration has no term that could start', async () => {
  const refused = {
    status: 422,
    body: {
      error:
        'a key type without a duration has no term that could start at the first activation; send duration too, or startsAt issue',
    },
  }
  const path = '/v1/products/editor/key-types'
  const ask = async (method: 'POST' | 'PATCH', url: string, body: object) => {
    const answer = await api.ask(method, url, { token: tenant.token, body })
    return { status: answer.status, body: answer.body }
  }
  const startsAt = 'first_activation'
  expect(await ask('POST', path, { name: 'Wrong', startsAt })).toStrictEqual(refused)
  expect(await ask('PATCH', `${path}/ever`, { startsAt })).toStrictEqual(refused)
  expect(await ask('PATCH', `${path}/later`, { duration: null })).toStrictEqual(refused)
  const keyTypes = [{ name: 'Wrong', startsAt }]
  expect(await ask('POST', '/v1/products', { name: 'Other', keyTypes })).toStrictEqual(refused)
  const { status, body } = await ask('PATCH', `${path}/ever`, { startsAt: 'issue' })
  expect({ status, body }).toMatchObject({ status: 200, body: { updated: { keyTypeId: 'ever' } } })
  expect(JSON.stringify(body)).not.toContain('startsAt')
})
