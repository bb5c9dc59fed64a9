/**
 * Guarantee: a dry run needs the scopes of the call, answers what it would change, and records nothing; the preview of a
 * confirmation is its token's own, and says what has changed since the request.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { approve } from '../../src/gate/approvals.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { approver, confirmed, pendingId } from '../harness/gate.ts'
import { makeCustomer, makeProduct, mint } from './samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
})
beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  const keyTypes = [
    { keyTypeId: 'pro', name: 'Pro', deviceLimit: 5, entitlements: ['export'] },
    { keyTypeId: 'spare', name: 'Spare' },
  ]
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes })
})
afterAll(() => api.close())

const head = () => api.ledger.ports.ledger.head()
const secretsKept = async () => {
  const { rows } = await api.ledger.db.query<{ name: string }>(
    'select name from vault.secrets where tenant_id = $1 order by name',
    [tenant.tenantId],
  )
  return rows
}
const activate = (licenseKey: string, device_id: string) =>
  api.ask('POST', '/v1/licenses/activate', {
    token: tenant.token,
    body: { product_id: 'editor', license_key: licenseKey, device_id },
  })
const revoke = (id: string, query = '', token = tenant.token) =>
  api.ask('POST', `/v1/licenses/${id}/revoke${query}`, { token })
const preview = (id: string, token = tenant.token) =>
  api.ask('GET', `/v1/confirmations/${id}/preview`, { token })

test('a revocation names the license, its devices and entitlements, and is not done', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  await activate(licenseKey, 'laptop')
  const before = await head()
  const { status, body, headers } = await revoke(id, '?dryRun=true')
  const displayKey = `ACMEEDIT…${licenseKey.slice(-6, -2)}`
  expect({ status, body }).toStrictEqual({
    status: 200,
    body: {
      dryRun: true,
      wouldBeRefused: null,
      effect: {
        licenses: {
          count: 1,
          counted: 'exactly',
          first: [{ id, displayKey, from: 'active', to: 'revoked' }],
        },
        devicesLosing: {
          count: 1,
          counted: 'exactly',
          first: [{ licenseId: id, deviceId: 'laptop', name: 'laptop' }],
        },
        devicesGaining: { count: 0, counted: 'exactly', first: [] },
        entitlementsAppearing: [],
        entitlementsDisappearing: [{ entitlement: 'export', licenses: { count: 1, counted: 'exactly' } }],
        webhooks: [],
        also: [],
      },
      sentences: [
        `License ${displayKey} goes from active to revoked`,
        '1 device loses its seat: “laptop”',
        'Its key stops validating at once',
        '1 license loses “export”',
      ],
    },
  })
  expect(headers['content-type']).toMatch(/^application\/vnd\.keyledger\.effect\+json/)
  expect(await head()).toBe(before)
})

test('a license with more devices than names says how many more', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor', { deviceLimit: 30 })
  for (let device = 10; device < 32; device++) await activate(licenseKey, `d${device}`)
  const { sentences, effect } = Named.parse((await revoke(id, '?dryRun=true')).body)
  expect(effect.devicesLosing).toMatchObject({ count: 22, counted: 'exactly' })
  expect(effect.devicesLosing.first).toHaveLength(20)
  expect(sentences[1]).toMatch(/^22 devices lose their seats: “d10”, .*“d29” and 2 more$/)
})
const Named = z.object({
  sentences: z.array(z.string()),
  effect: z.looseObject({ devicesLosing: z.looseObject({ first: z.array(z.unknown()) }) }),
})

test('no dry run of a gated operation appends an event, keeps or destroys a secret, or opens a confirmation', async () => {
  const { token } = tenant
  const { id } = await mint(api.ask, token, 'editor', { email: 'ada@example.com' })
  const customer = await makeCustomer(api.ask, token)
  const url = 'https://public.example.com/hook'
  const opened = pendingId(await api.ask('PUT', '/v1/webhook', { token, body: { url } }))
  await approve(api.ledger.ports, tenant.tenantId, opened, approver)
  await confirmed(api.ask, tenant, 'PUT', '/v1/webhook', opened, { body: { url } })
  const [start, secrets] = [await head(), await secretsKept()]
  const calls = [
    ['POST', `/v1/licenses/${id}/revoke`],
    ['GET', '/v1/licenses/export'],
    ['GET', '/v1/sdk-key'],
    ['POST', '/v1/sdk-key/rotate'],
    ['DELETE', `/v1/customers/${customer}`],
    ['DELETE', '/v1/products/editor/key-types/spare'],
    ['POST', `/v1/tokens/${tenant.tokenId}/revoke`],
    ['PUT', '/v1/webhook', { url, rotateSecret: true }],
    ['PUT', '/v1/webhook', { url: null }],
    ['POST', '/v1/webhook-endpoints', { url: `${url}/2` }],
    ['PATCH', '/v1/webhook-endpoints/first', { url: `${url}/3` }],
    ['PATCH', '/v1/webhook-endpoints/first', { paused: true }],
    ['POST', '/v1/webhook-endpoints/first/rotate-secret'],
    ['DELETE', '/v1/webhook-endpoints/first'],
    ['PATCH', '/v1/products/editor/key-types/pro', { entitlements: [] }],
  ] as const
  for (const [method, path, body] of calls) {
    const { status, body: answer } = await api.ask(method, `${path}?dryRun=true`, { token, body })
    expect({ path, status, answer }).toMatchObject({ path, status: 200, answer: { wouldBeRefused: null } })
    expect({
      path,
      sentences: z.looseObject({ sentences: z.array(z.string()) }).parse(answer).sentences,
    }).not.toStrictEqual({ path, sentences: [] })
  }
  expect(await head()).toBe(start)
  expect(await secretsKept()).toStrictEqual(secrets)
  expect((await api.ask('GET', '/v1/tokens/verify', { token })).status).toBe(200)
})

test("a payment provider's secret that would be replaced is named, and keeps working", async () => {
  const { token } = tenant
  await api.ask('POST', '/v1/integrations/gumroad/connect', { token, body: {} })
  const [start, secrets] = [await head(), await secretsKept()]
  const rotated = await api.ask('POST', '/v1/integrations/gumroad/rotate-secret?dryRun=true', { token })
  expect(rotated.body).toMatchObject({
    wouldBeRefused: null,
    effect: { also: [{ what: 'provider_secret_replaced', provider: 'gumroad', products: 0 }] },
    sentences: [
      'The current secret of gumroad stops working; 0 products are sold through it',
      "Sales are lost until you enter the new ping URL, which is shown once, in gumroad's settings",
    ],
  })
  expect(await head()).toBe(start)
  expect(await secretsKept()).toStrictEqual(secrets)
  expect(secrets.length).toBeGreaterThan(0)
})

test('a device that is reseated on a plan with a limit is named', async () => {
  const limited = await makeTenant(api.ledger, 'free')
  const { token } = limited
  await makeProduct(api.ask, token, 'editor')
  const { id, licenseKey } = await mint(api.ask, token, 'editor')
  const body = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  await api.ask('POST', '/v1/licenses/activate', { token, body })
  await api.ask('POST', '/v1/licenses/deactivate', { token, body })
  const answer = await api.ask('POST', `/v1/licenses/${id}/reseat-device?dryRun=true`, {
    token,
    body: { deviceId: 'laptop' },
  })
  expect(answer.body).toMatchObject({ sentences: ['1 device gets its seat: “laptop”'] })
})

test('what the call would be refused with is in the answer; what does not exist is 404', async () => {
  const { token } = tenant
  const only = await api.ask('DELETE', '/v1/products/editor/key-types/spare?dryRun=true', { token })
  expect(only.body).toMatchObject({ wouldBeRefused: null })
  await mint(api.ask, token, 'editor')
  const used = await api.ask('DELETE', '/v1/products/editor/key-types/pro?dryRun=true', { token })
  const refused = await api.ask('DELETE', '/v1/products/editor/key-types/pro', { token })
  expect({ status: used.status, body: used.body }).toMatchObject({
    status: 200,
    body: {
      wouldBeRefused: { status: refused.status, ...z.object({ error: z.string() }).parse(refused.body) },
      sentences: [],
    },
  })
  expect((await api.ask('DELETE', '/v1/products/editor/key-types/none?dryRun=true', { token })).status).toBe(
    404,
  )
  expect(
    (await api.ask('PATCH', '/v1/products/editor/key-types/none?dryRun=true', { token, body: {} })).status,
  ).toBe(404)
})

test("another tenant's license and confirmation are 404 as absent ones", async () => {
  const other = await makeTenant(api.ledger)
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const foreign = await revoke(id, '?dryRun=true', other.token)
  const absent = await revoke('lic_00000000000000000000000000', '?dryRun=true', other.token)
  expect([foreign.status, foreign.body]).toStrictEqual([404, absent.body])
  const confirmation = pendingId(await revoke(id))
  const sameTenant = await tenant.tokenWith('licenses:write', 'danger')
  expect((await preview(confirmation, other.token)).status).toBe(404)
  expect((await preview(confirmation, sameTenant)).status).toBe(404)
})

test('a dry run needs the scopes of the call', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const without = await tenant.tokenWith('licenses:write')
  expect((await revoke(id, '?dryRun=true', without)).status).toBe(403)
  const endpoints = await tenant.tokenWith('integrations:write')
  const body = { url: 'https://public.example.com/hook' }
  const add = await api.ask('POST', '/v1/webhook-endpoints?dryRun=true', { token: endpoints, body })
  expect(add.status).toBe(403)
  const read = await tenant.tokenWith('products:read')
  const change = { token: read, body: { entitlements: [] } }
  expect((await api.ask('PATCH', '/v1/products/editor/key-types/pro?dryRun=true', change)).status).toBe(403)
})

test('an approval is for the call, whatever dryRun says', async () => {
  const { id } = await mint(api.ask, tenant.token, 'editor')
  const confirmation = pendingId(await revoke(id, '?dryRun=false'))
  await approve(api.ledger.ports, tenant.tenantId, confirmation, approver)
  const rehearsed = await confirmed(
    api.ask,
    tenant,
    'POST',
    `/v1/licenses/${id}/revoke?dryRun=true`,
    confirmation,
  )
  expect(rehearsed.body).toMatchObject({ dryRun: true })
  const ran = await confirmed(api.ask, tenant, 'POST', `/v1/licenses/${id}/revoke`, confirmation)
  expect(ran.body).toMatchObject({ license: { status: 'revoked' } })
  expect((await revoke(id, '?dryRun=maybe')).status).toBe(400)
})

test('a preview says that nothing has changed since the request, or what has', async () => {
  const { id, licenseKey } = await mint(api.ask, tenant.token, 'editor')
  await activate(licenseKey, 'laptop')
  const confirmation = pendingId(await revoke(id))
  expect((await preview(confirmation)).body).toMatchObject({
    id: confirmation,
    status: 'pending',
    preview: { wouldBeRefused: null },
    sinceAsked: { changed: false, before: [], now: [] },
  })
  await activate(licenseKey, 'phone')
  expect((await preview(confirmation)).body).toMatchObject({
    sinceAsked: {
      changed: true,
      before: ['1 device loses its seat: “laptop”'],
      now: ['2 devices lose their seats: “laptop”, “phone”'],
    },
  })
  const second = pendingId(await revoke(id))
  await approve(api.ledger.ports, tenant.tenantId, second, approver)
  await confirmed(api.ask, tenant, 'POST', `/v1/licenses/${id}/revoke`, second)
  expect((await preview(confirmation)).body).toMatchObject({
    preview: { wouldBeRefused: { status: 409, error: 'the license is revoked' }, sentences: [] },
  })
  expect((await preview(second)).body).toStrictEqual({
    id: second,
    status: 'approved',
    preview: null,
    sinceAsked: null,
  })
})

test('the effect that is kept with a request holds no secret of it', async () => {
  const url = 'https://public.example.com/hook?key=very-secret'
  const confirmation = pendingId(await api.ask('PUT', '/v1/webhook', { token: tenant.token, body: { url } }))
  const { text } = await preview(confirmation)
  expect(text).toContain('public.example.com')
  expect(text).not.toContain('very-secret')
})

test('a key type that changes says how many live licenses it reaches', async () => {
  const { token } = tenant
  await mint(api.ask, token, 'editor')
  await mint(api.ask, token, 'editor')
  const body = { entitlements: ['sync'], deviceLimit: 2, duration: { count: 1, unit: 'year' } }
  const { body: answer } = await api.ask('PATCH', '/v1/products/editor/key-types/pro?dryRun=true', {
    token,
    body,
  })
  expect(answer).toMatchObject({
    sentences: [
      '2 licenses lose “export”',
      '2 licenses get “sync”',
      expect.stringMatching(/^Records KeyTypeChanged in product-/),
      'Key type “pro” of “editor” changes; 2 live licenses use it',
      'Device limit of new licenses: 5 becomes 2',
      'Term of new licenses: none becomes 1 year',
      '2 live licenses keep their terms until the plan or quantity of a subscription changes',
    ],
  })
})
