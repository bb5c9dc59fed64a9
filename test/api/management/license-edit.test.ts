/**
 * Guarantee: a vendor changes, suspends and resumes a license at once, for every interface; the history says who, why
 * and what; and no later notification about its sale undoes it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { verify } from '../../../projections/runner/verify.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { askApproveRepeat } from '../../harness/gate.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct, mint } from '../../http/samples.ts'
import { month, purchase } from '../../sales/notifications.ts'
import { openShop } from '../../sales/shop.ts'

let api: TestApi
let tenant: TestTenant
let app: App
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', {
    keyTypes: [
      { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'], sellInMultiples: true },
      { name: 'Soft', keyTypeId: 'soft', deviceLimit: 1, onExpiry: 'fallback' },
    ],
  })
  app = appOf(
    api.ask,
    { tenantId: tenant.tenantId, productId: 'editor' },
    await sdkKeyOf(api.ledger, tenant.tenantId),
  )
})
afterAll(() => api.close())

const day = 86_400_000
const inDays = (days: number) =>
  new Date(Math.floor(api.ledger.clock.now().getTime() / 1000) * 1000 + days * day).toISOString()
const send = async (method: 'GET' | 'PATCH' | 'POST', url: string, body?: unknown) => {
  const { status, body: answered } = await api.ask(method, `/v1/licenses${url}`, {
    token: tenant.token,
    body,
  })
  return { status, body: answered }
}
const edit = (id: string, body: object) => send('PATCH', `/${id}`, body)
const error = (status: number, message: string) => ({ status, body: { error: message } })
const runtime = async (call: string, key: string, device?: string) =>
  (await send('POST', `/${call}`, { product_id: 'editor', license_key: key, device_id: device })).body
const History = z.object({ items: z.array(z.looseObject({ event: z.string() })) })
const lastOf = async (id: string) =>
  History.parse((await send('GET', `/${id}/history?limit=1`)).body).items[0]
const make = (fields = {}) => mint(api.ask, tenant.token, 'editor', fields)

describe('editing a license', () => {
  test('keeps omitted fields; the history shows who changed what and why', async () => {
    const { id } = await make({ email: 'ada@example.com', name: 'Ada', metadata: { order: '1' } })
    const expiresAt = inDays(30)
    expect(await edit(id, { expiresAt, reason: 'a favor' })).toMatchObject({
      status: 200,
      body: {
        license: { id, expiresAt, email: 'ada@example.com', metadata: { order: '1' }, deviceLimit: 2 },
      },
    })
    const change = { email: 'bob@example.com', metadata: { order: '2', team: 'blue' }, deviceLimit: null }
    expect(await edit(id, change)).toMatchObject({ body: { license: { expiresAt, ...change } } })
    expect(await send('GET', `/${id}`)).toMatchObject({ body: { license: { expiresAt, ...change } } })
    const { items } = History.parse((await send('GET', `/${id}/history?order=oldest`)).body)
    expect(items[2]).toMatchObject({
      event: 'license.updated',
      summary: 'Edited',
      actor: { kind: 'token', id: tenant.tokenId },
      changes: [
        { field: 'deviceLimit', before: 2, after: null },
        { field: 'metadata', before: 'order: 1', after: 'order: 2, team: blue' },
        { field: 'email', before: 'ada@example.com', after: 'bob@example.com' },
      ],
    })
    expect(items[1]).toMatchObject({ summary: 'Edited: a favor' })
    expect(items[3]).toMatchObject({ event: 'license.linked' })
    const asOf = await send('GET', `/${id}?asOf=1`)
    expect(asOf).toMatchObject({ body: { license: { email: 'ada@example.com', deviceLimit: 2, expiresAt } } })
  })

  test('records nothing when the values are unchanged', async () => {
    const { id } = await make({ email: 'ada@example.com', metadata: { order: '1' } })
    const before = await lastOf(id)
    await edit(id, {
      email: 'ada@example.com',
      name: null,
      quantity: 1,
      keyTypeId: 'pro',
    })
    await edit(id, { metadata: { order: '1' }, expiresAt: null, deviceLimit: 2 })
    expect(await lastOf(id)).toStrictEqual(before)
  })

  test('updates the device limit with the key type and quantity, unless the request sets it', async () => {
    const { id } = await make()
    expect(await edit(id, { quantity: 3 })).toMatchObject({
      body: { license: { quantity: 3, deviceLimit: 6 } },
    })
    expect(await edit(id, { quantity: 2, deviceLimit: 9 })).toMatchObject({
      body: { license: { quantity: 2, deviceLimit: 9 } },
    })
    expect(await edit(id, { keyTypeId: 'soft', quantity: 1 })).toMatchObject({
      body: { license: { keyTypeId: 'soft', quantity: 1, deviceLimit: 1, entitlements: [] } },
    })
  })

  test('to fewer seats than are in use keeps the devices and allows no more', async () => {
    const { id, licenseKey } = await make()
    await runtime('activate', licenseKey, 'laptop')
    await runtime('activate', licenseKey, 'desktop')
    expect(await edit(id, { deviceLimit: 1 })).toMatchObject({
      body: { license: { deviceLimit: 1, seatsUsed: 2 } },
    })
    expect(await runtime('validate', licenseKey, 'desktop')).toMatchObject({ valid: true })
    expect(await runtime('activate', licenseKey, 'phone')).toMatchObject({ status: 'seat_limit_reached' })
  })

  test('returns an error that says what is wrong', async () => {
    const { id } = await make()
    expect(await edit('lic_1', { quantity: 1 })).toStrictEqual(error(404, 'license not found'))
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'editor')
    const foreign = await mint(api.ask, other.token, 'editor')
    expect(await edit(foreign.id, { deviceLimit: 5 })).toStrictEqual(error(404, 'license not found'))
    expect(await edit(id, { keyTypeId: 'none' })).toStrictEqual(error(404, 'key type not found'))
    expect(await edit(id, { keyTypeId: 'soft', quantity: 2 })).toMatchObject({ status: 422 })
    expect(await edit(id, { expiresAt: inDays(-1) })).toStrictEqual(
      error(422, 'expiresAt must be in the future'),
    )
    expect(await edit(id, { name: 'Ada' })).toMatchObject({ status: 422 })
    expect(await edit(id, { seats: 3 })).toMatchObject({ status: 400 })
    await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${id}/revoke`)
    expect(await edit(id, { deviceLimit: 5 })).toStrictEqual(error(409, 'the license is revoked'))
  })

  test('removes the person with the email address, and sets another one', async () => {
    const { id } = await make({ email: 'eve@example.com', name: 'Eve' })
    expect(await edit(id, { email: null })).toMatchObject({ body: { license: { email: null } } })
    expect(await edit(id, { email: 'fay@example.com', name: 'Fay' })).toMatchObject({
      body: { license: { email: 'fay@example.com' } },
    })
  })
})

describe('a suspended license', () => {
  test('answers `inactive` with the reason `suspended` until it is resumed', async () => {
    const { id, licenseKey } = await make({ expiresAt: inDays(10) })
    await runtime('activate', licenseKey, 'laptop')
    expect(await send('POST', `/${id}/suspend`, { reason: 'unpaid' })).toMatchObject({
      status: 200,
      body: { license: { id, status: 'suspended', entitlements: [], seatsUsed: 1 } },
    })
    const inactive = { status: 'inactive', reason: 'suspended', entitlements: [] }
    expect(await runtime('validate', licenseKey, 'laptop')).toMatchObject({ valid: false, ...inactive })
    expect(await runtime('validate', licenseKey)).toMatchObject({ valid: false, ...inactive })
    expect(await runtime('validate', licenseKey, 'phone')).toMatchObject({ valid: false, ...inactive })
    for (const device of ['laptop', 'phone']) {
      expect(await runtime('activate', licenseKey, device)).toMatchObject({ activated: false, ...inactive })
    }
    expect(await send('GET', '?status=suspended')).toMatchObject({ body: { items: [{ id }] } })
    expect(await send('GET', `/${id}/explain?device_id=laptop`)).toMatchObject({
      body: {
        explanation: {
          validate: {
            status: 'inactive',
            rule: 'suspended',
            because: expect.stringMatching(/^denied: suspended on .*: unpaid$/) as string,
            events: [{ summary: 'Suspended: unpaid' }],
          },
          activate: { status: 'inactive', rule: 'suspended' },
        },
      },
    })
    expect(await send('GET', `/${id}/refusals`)).toMatchObject({
      body: {
        items: expect.arrayContaining([
          expect.objectContaining({ reason: 'suspended', call: 'validate' }),
          expect.objectContaining({ reason: 'suspended', call: 'activate' }),
        ]) as unknown,
      },
    })
    expect(await send('POST', `/${id}/suspend`)).toMatchObject({ status: 200 })
    expect(await send('POST', `/${id}/resume`, { reason: 'paid' })).toMatchObject({
      body: { license: { status: 'active' } },
    })
    expect(await runtime('validate', licenseKey, 'laptop')).toMatchObject({ valid: true })
    expect(await lastOf(id)).toMatchObject({
      event: 'license.resumed',
      summary: 'Resumed: paid',
      changes: [{ field: 'status', before: 'suspended', after: 'active' }],
    })
  })

  test('gets a lease with the status `suspended` and the settings, and cannot be activated', async () => {
    const { id, licenseKey } = await make()
    const { body } = await app.post('activate', { license_key: licenseKey, instance_name: 'MacBook' })
    const { instance_id } = z.object({ instance_id: z.string() }).parse(body)
    await send('POST', `/${id}/suspend`)
    const answer = await app.post('validate', { license_key: licenseKey, instance_id })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        valid: false,
        error: 'license suspended',
        lease: { status: 'suspended', entitlements: [] },
        free_tier_enabled: false,
      },
    })
    const refused = await app.post('activate', { license_key: licenseKey, instance_name: 'Desktop' })
    expect({ status: refused.status, body: refused.body }).toStrictEqual({
      status: 422,
      body: { error: 'license suspended', reason: 'suspended' },
    })
  })

  test('expires while it is suspended; resuming does not extend it', async () => {
    const { id, licenseKey } = await make({ expiresAt: inDays(1) })
    await send('POST', `/${id}/suspend`)
    api.ledger.clock.advance(2 * day)
    expect(await runtime('validate', licenseKey)).toMatchObject({ reason: 'suspended' })
    await send('POST', `/${id}/resume`)
    expect(await runtime('validate', licenseKey)).toMatchObject({ status: 'expired', reason: 'expired' })
    await edit(id, { expiresAt: inDays(1) })
    expect(await runtime('validate', licenseKey)).toMatchObject({ valid: true })
  })

  test('can be revoked, and then neither resumed nor suspended', async () => {
    const { id, licenseKey } = await make()
    await send('POST', `/${id}/suspend`)
    await askApproveRepeat(api, tenant, 'POST', `/v1/licenses/${id}/revoke`)
    expect(await runtime('validate', licenseKey)).toMatchObject({ status: 'revoked', reason: 'revoked' })
    expect(await send('POST', `/${id}/resume`)).toStrictEqual(error(409, 'the license is revoked'))
    expect(await send('POST', `/${id}/suspend`)).toStrictEqual(error(409, 'the license is revoked'))
  })
})

const Feed = z.object({ items: z.array(z.looseObject({ event: z.string(), license_id: z.string() })) })

test('the webhook events contain the fields of the license after the change', async () => {
  const { id } = await make({ email: 'ada@example.com' })
  const expiresAt = inDays(5)
  await edit(id, { email: 'bob@example.com', deviceLimit: 4 })
  await edit(id, { expiresAt })
  await send('POST', `/${id}/suspend`, { reason: 'internal' })
  await send('POST', `/${id}/resume`)
  const { items } = Feed.parse((await api.ask('GET', '/v1/events?limit=100', { token: tenant.token })).body)
  const own = items.filter(({ license_id }) => license_id === id)
  const current = { customer_email: 'bob@example.com', quantity: 1, device_limit: 4 }
  expect(own).toMatchObject([
    { event: 'license.issued', source: 'api', customer_email: 'ada@example.com' },
    { event: 'license.updated', ...current, expires_at: null },
    { event: 'license.linked', customer_email: 'bob@example.com' },
    { event: 'license.updated', ...current, expires_at: Date.parse(expiresAt) / 1000 },
    { event: 'license.suspended', customer_email: 'bob@example.com' },
    { event: 'license.resumed', customer_email: 'bob@example.com' },
  ])
  expect(JSON.stringify(own)).not.toContain('internal')
})

test('a partial refund keeps an extension, and a renewal moves the expiry', async () => {
  const shop = await openShop(api)
  const { sold, renewed, refunded } = purchase('eva')
  await shop.tell(sold())
  const { body } = await api.ask('GET', '/v1/licenses', { token: shop.token })
  const { items } = z.object({ items: z.array(z.looseObject({ id: z.string() })) }).parse(body)
  const url = `/v1/licenses/${items[0]?.id}`
  const expiryNow = async () => {
    const { body: shown } = await api.ask('GET', url, { token: shop.token })
    return z.object({ license: z.looseObject({ expiresAt: z.string() }) }).parse(shown).license.expiresAt
  }
  const extended = new Date(Date.parse(month.second) - day).toISOString()
  await api.ask('PATCH', url, { token: shop.token, body: { expiresAt: extended } })
  await shop.tell(refunded('re_1', 100))
  expect(await expiryNow()).toBe(extended)
  await shop.tell(renewed('in_1', month.second))
  expect(await expiryNow()).toBe(month.second)
})

test('the read models equal a replay of the log', async () => {
  const found = await verify(api.ledger.db, api.ledger.ports.ledger, () => undefined)
  expect(found.differences).toStrictEqual([])
})
