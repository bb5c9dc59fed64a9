/**
 * Guarantee: the values of what a license grants are the same on every interface, stand beside names that are as they always
 * were, and an answer without a value has no field for them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Keyset, licenseKeyHash, verifyLease, verifyLease2 } from '../../../src/sdk/javascript/index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
let app: App
const valued = {
  deviceLimit: 2,
  entitlements: ['export', 'projects', 'tier'],
  entitlementValues: { projects: 25, tier: 'gold' },
}
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { tenantId, token } = tenant
  const term = { duration: { count: 1, unit: 'day' } }
  await makeProduct(api.ask, token, 'editor', {
    keyTypes: [
      { name: 'Pro', ...valued },
      { name: 'Plain', deviceLimit: 2, entitlements: ['export'] },
      {
        name: 'Soft',
        ...valued,
        ...term,
        onExpiry: 'fallback',
        fallbackEntitlements: ['projects', 'read'],
        entitlementValues: { ...valued.entitlementValues, read: true },
      },
    ],
  })
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const now = Date.parse(beginning) / 1000
const at = (seconds: number) => new Date((now + seconds) * 1000).toISOString()
const dayLater = 86_400

const Leased = z.looseObject({
  instance_id: z.string().default(''),
  lease: z.unknown().optional(),
  lease2: z.unknown().optional(),
  entitlement_values: z.unknown().optional(),
})

/** The license on every interface: names, and values where there are any. */
async function everywhere({ id, licenseKey }: { id: string; licenseKey: string }) {
  const { token, tenantId } = tenant
  const body = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
  const granting = z.object({
    entitlements: z.array(z.string()),
    entitlement_values: z.unknown().optional(),
    entitlementValues: z.unknown().optional(),
  })
  const granted = (answer: unknown) => {
    const { entitlements, entitlement_values: snake, entitlementValues: camel } = granting.parse(answer)
    return { entitlements, values: snake ?? camel }
  }
  const activated = await api.ask('POST', '/v1/licenses/activate', { token, body })
  const validated = await api.ask('POST', '/v1/licenses/validate', { token, body })
  const detail = await api.ask('GET', `/v1/licenses/${id}`, { token })
  const explained = await api.ask('GET', `/v1/licenses/${id}/explain`, { token })
  const keyset = (await api.ask('GET', `/${tenantId}/.well-known/service-keys`)).body as Keyset
  const first = Leased.parse(
    (await app.post('activate', { license_key: licenseKey, instance_name: 'PC' })).body,
  )
  const instanceId = first.instance_id
  const again = { license_key: licenseKey, instance_id: instanceId, lease_version: 2 }
  const second = Leased.parse((await app.post('validate', again)).body)
  const expected = { tenantId, productId: 'editor', licenseKeyHash: licenseKeyHash(licenseKey), instanceId }
  const time = api.ledger.clock.now().getTime() / 1000
  const lease = verifyLease(first.lease, expected, keyset, time)
  const lease2 = verifyLease2(second.lease2, expected, keyset, time)
  if (!lease.ok || !lease2.ok) throw new Error('a lease is not valid')
  return {
    answers: [
      granted(activated.body),
      granted(validated.body),
      granted(z.object({ license: z.unknown() }).parse(detail.body).license),
      granted(
        z.object({ explanation: z.object({ validate: z.unknown() }) }).parse(explained.body).explanation
          .validate,
      ),
      { entitlements: lease.lease.entitlements, values: first.entitlement_values },
    ],
    beside: second.entitlement_values,
    signed: lease2.lease.entitlements,
  }
}

const allSay = (entitlements: string[], values: Record<string, unknown> | undefined) => ({
  answers: Array.from({ length: 5 }, () => ({ entitlements, values })),
  beside: values,
  signed: { ...Object.fromEntries(entitlements.map((name) => [name, true])), ...values },
})

async function customerWith(...overrides: object[]): Promise<string> {
  const id = await makeCustomer(api.ask, tenant.token)
  await override(id, ...overrides)
  return id
}
async function override(id: string, ...overrides: object[]) {
  const url = `/v1/customers/${id}/entitlements`
  const answer = await api.ask('PATCH', url, { token: tenant.token, body: { overrides } })
  expect(answer.status).toBe(200)
  return answer.body
}
const license = (keyTypeId = 'pro', more = {}) =>
  mint(api.ask, tenant.token, 'editor', { keyTypeId, ...more })

describe('a license', () => {
  test('has the values of its key type', async () => {
    expect(await everywhere(await license())).toStrictEqual(
      allSay(valued.entitlements, valued.entitlementValues),
    )
  })
  test('without a value has no field for values', async () => {
    const { id, licenseKey } = await license('plain')
    expect(await everywhere({ id, licenseKey })).toStrictEqual(allSay(['export'], undefined))
    const { token } = tenant
    const body = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
    const answer = await api.ask('POST', '/v1/licenses/validate', { token, body })
    expect(answer.body).toStrictEqual({
      valid: true,
      status: 'active',
      expires_at: null,
      entitlements: ['export'],
      revalidate_after: now + 3600,
      device_id: 'laptop',
    })
    const detail = await api.ask('GET', `/v1/licenses/${id}`, { token })
    expect(JSON.stringify(detail.body)).not.toContain('entitlementValues')
  })
  test("has the values of its customer's overrides in their place, until they end", async () => {
    const customerId = await customerWith(
      { entitlement: 'projects', effect: 'grant', value: 100, expiresAt: at(60) },
      { entitlement: 'projects', effect: 'grant', value: 50 },
      { entitlement: 'beta', effect: 'grant', value: '2027-11-21' },
      { entitlement: 'tier', effect: 'revoke' },
    )
    const minted = await license('pro', { customerId })
    const names = ['beta', 'export', 'projects']
    expect(await everywhere(minted)).toStrictEqual(allSay(names, { projects: 100, beta: '2027-11-21' }))
    const body = { product_id: 'editor', license_key: minted.licenseKey, device_id: 'laptop' }
    const answer = await api.ask('POST', '/v1/licenses/validate', { token: tenant.token, body })
    expect(answer.body).toMatchObject({ revalidate_after: now + 60 })
    api.ledger.clock.set(at(60))
    expect(await everywhere(minted)).toStrictEqual(allSay(names, { projects: 50, beta: '2027-11-21' }))
  })
  test('that falls back keeps the values of the names that stay', async () => {
    const minted = await license('soft')
    expect(await everywhere(minted)).toStrictEqual(allSay(valued.entitlements, valued.entitlementValues))
    api.ledger.clock.set(at(dayLater))
    expect(await everywhere(minted)).toStrictEqual(allSay(['projects', 'read'], { projects: 25, read: true }))
  })
  test('that is refused grants no values', async () => {
    const { licenseKey } = await license('pro', { deviceLimit: 1 })
    const { token } = tenant
    const body = { product_id: 'editor', license_key: licenseKey }
    await api.ask('POST', '/v1/licenses/activate', { token, body: { ...body, device_id: 'one' } })
    for (const call of ['activate', 'validate']) {
      const answer = await api.ask('POST', `/v1/licenses/${call}`, {
        token,
        body: { ...body, device_id: 'two' },
      })
      expect(answer.body).toMatchObject({ entitlements: [] })
      expect(answer.body).not.toHaveProperty('entitlement_values')
    }
  })
  test('has the present values after every change of the key type, in requests that begin after it', async () => {
    await api.ask('POST', '/v1/products/editor/key-types', {
      token: tenant.token,
      body: { name: 'Changing', entitlements: ['seats'] },
    })
    const { licenseKey } = await license('changing')
    const body = { product_id: 'editor', license_key: licenseKey }
    for (const seats of [1, 2, 'many', true]) {
      const url = '/v1/products/editor/key-types/changing'
      const change = { entitlementValues: { seats } }
      expect((await api.ask('PATCH', url, { token: tenant.token, body: change })).status).toBe(200)
      const answer = await api.ask('POST', '/v1/licenses/validate', { token: tenant.token, body })
      expect(answer.body).toMatchObject({ entitlements: ['seats'], entitlement_values: { seats } })
    }
  })
})

test('a past moment shows and explains the values of then', async () => {
  const { token } = tenant
  const url = '/v1/products/editor/key-types'
  const made = { name: 'Past', entitlements: ['seats'], entitlementValues: { seats: 1 } }
  await api.ask('POST', url, { token, body: made })
  const { id } = await license('past')
  api.ledger.clock.set(at(60))
  await api.ask('PATCH', `${url}/past`, { token, body: { entitlementValues: { seats: 2 } } })
  api.ledger.clock.set(at(120))
  const read = (moment: string) => api.ask('GET', `/v1/licenses/${id}${moment}`, { token })
  expect((await read('')).body).toMatchObject({ license: { entitlementValues: { seats: 2 } } })
  const then = `asOf=${at(30)}`
  expect((await read(`?${then}`)).body).toMatchObject({ license: { entitlementValues: { seats: 1 } } })
  const explained = (await read(`/explain?${then}`)).body
  expect(explained).toMatchObject({ explanation: { validate: { entitlement_values: { seats: 1 } } } })
})

describe('the management interface', () => {
  const url = '/v1/products/editor/key-types'
  const post = (body: object) => api.ask('POST', url, { token: tenant.token, body })
  const patch = (id: string, body: object) => api.ask('PATCH', `${url}/${id}`, { token: tenant.token, body })
  test('shows the values of a key type, replaces them, and shows no field without any', async () => {
    const made = await post({ name: 'Shown', entitlements: ['seats'], entitlementValues: { seats: 5 } })
    expect(made.body).toMatchObject({ created: { entitlementValues: { seats: 5 } } })
    const changed = await patch('shown', { entitlementValues: { seats: 0.5 } })
    expect(changed.body).toMatchObject({ updated: { entitlementValues: { seats: 0.5 } } })
    const renamed = await patch('shown', { name: 'Renamed' })
    expect(renamed.body).toMatchObject({ updated: { entitlementValues: { seats: 0.5 } } })
    const removed = await patch('shown', { entitlementValues: {} })
    expect(removed.body).toMatchObject({ updated: { entitlements: ['seats'] } })
    expect(removed.body).not.toHaveProperty('updated.entitlementValues')
  })
  test('refuses a value without its entitlement, and says what to do', async () => {
    const wanted = { entitlements: ['export'], entitlementValues: { seats: 5 } }
    for (const answer of [await post({ name: 'Refused', ...wanted }), await patch('pro', wanted)]) {
      expect(answer).toMatchObject({
        status: 422,
        body: {
          error: expect.stringContaining('neither in entitlements nor in fallbackEntitlements') as string,
        },
      })
    }
  })
  test.each<[what: string, values: unknown, words: string]>([
    ['false', { projects: false }, 'leave out the entitlement'],
    ['an object', { projects: { a: 1 } }, 'must be true, a number'],
    ['an inexact integer', { projects: 2 ** 53 }, 'send a larger number as text'],
    ['text that is too long', { tier: 'x'.repeat(201) }, 'at most 200 characters'],
    ['another name', { Projects: 1 }, 'lowercase letters'],
  ])('refuses %s as a value', async (_, entitlementValues, words) => {
    expect(await patch('pro', { entitlementValues })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(words) as string },
    })
  })
  test('shows the values of overrides, and refuses those that do not fit', async () => {
    const id = await makeCustomer(api.ask, tenant.token)
    const own = { entitlement: 'projects', effect: 'grant', value: 100 }
    expect(await override(id, own)).toMatchObject({ customer: { entitlementOverrides: [own] } })
    const refused = (overrides: object[]) =>
      api.ask('PATCH', `/v1/customers/${id}/entitlements`, { token: tenant.token, body: { overrides } })
    expect(await refused([own, { ...own, value: 50 }])).toMatchObject({ status: 422 })
    expect(await refused([{ ...own, effect: 'revoke' }])).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('only what is granted has a value') as string },
    })
    expect(await refused([{ ...own, value: false }])).toMatchObject({ status: 400 })
  })
})
