/**
 * Guarantee: a license grants its key type's entitlements with its customer's overrides, the same on every
 * interface, and requests that begin after a change of the overrides see it.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { customerStream } from '../../../src/domain/streams.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { appendRaw, beginning, commandLicense } from '../../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const terms = { duration: { count: 1, unit: 'day' }, entitlements: ['export', 'sync'] }
  await makeProduct(api.ask, tenant.token, 'editor', {
    revalidateAfterSeconds: 600,
    keyTypes: [
      { name: 'Perpetual', entitlements: ['export', 'sync'] },
      { name: 'Soft', ...terms, onExpiry: 'fallback', fallbackEntitlements: ['read'] },
      { name: 'Hard', ...terms },
    ],
  })
  await makeProduct(api.ask, tenant.token, 'player', {
    keyTypes: [{ name: 'Basic', entitlements: ['play'] }],
  })
})
afterAll(() => api.close())
beforeEach(() => api.ledger.clock.set(beginning))

const now = Date.parse(beginning) / 1000
const at = (seconds: number) => new Date((now + seconds) * 1000).toISOString()

type Override = { entitlement: string; effect: 'grant' | 'revoke'; productId?: string; expiresAt?: string }
const grant = (entitlement: string, more = {}): Override => ({ entitlement, effect: 'grant', ...more })
const revoke = (entitlement: string, more = {}): Override => ({ entitlement, effect: 'revoke', ...more })

async function customer(...overrides: Override[]): Promise<string> {
  const id = await makeCustomer(api.ask, tenant.token)
  if (overrides.length > 0) await override(id, ...overrides)
  return id
}
async function override(id: string, ...overrides: Override[]): Promise<void> {
  const url = `/v1/customers/${id}/entitlements`
  const { status } = await api.ask('PATCH', url, { token: tenant.token, body: { overrides } })
  expect(status).toBe(200)
}
const license = (customerId: string, productId = 'editor', keyTypeId = 'perpetual') =>
  mint(api.ask, tenant.token, productId, { customerId, keyTypeId })

async function runtime(what: 'activate' | 'validate', license_key: string, product_id = 'editor') {
  const body = { product_id, license_key, device_id: 'laptop' }
  const answer = await api.ask('POST', `/v1/licenses/${what}`, { token: tenant.token, body })
  return answer.body
}

/** The entitlements of a license on each interface. */
async function everywhere({ id, licenseKey }: { id: string; licenseKey: string }): Promise<unknown[]> {
  const Entitlements = z.looseObject({ entitlements: z.array(z.string()) })
  const { token } = tenant
  const detail = await api.ask('GET', `/v1/licenses/${id}`, { token })
  const list = await api.ask('GET', '/v1/licenses?limit=100', { token })
  const items = z.object({ items: z.array(Entitlements.extend({ id: z.string() })) }).parse(list.body).items
  return [
    Entitlements.parse(await runtime('activate', licenseKey)).entitlements,
    Entitlements.parse(await runtime('validate', licenseKey)).entitlements,
    z.object({ license: Entitlements }).parse(detail.body).license.entitlements,
    items.find((item) => item.id === id)?.entitlements,
  ]
}
const allSay = (...entitlements: string[]) => [entitlements, entitlements, entitlements, entitlements]

describe('a license grants', () => {
  test("its key type's entitlements when its customer has no overrides", async () => {
    expect(await everywhere(await license(await customer()))).toStrictEqual(allSay('export', 'sync'))
  })

  test("its entitlements with its customer's overrides applied", async () => {
    const id = await customer(grant('beta'), revoke('sync'), grant('sync'))
    expect(await everywhere(await license(id))).toStrictEqual(allSay('beta', 'export'))
  })

  test('overrides that are older than the license, also in the response to the mint', async () => {
    const customerId = await customer(grant('beta'))
    const { body } = await api.ask('POST', '/v1/licenses', {
      token: tenant.token,
      body: { productId: 'editor', customerId },
    })
    expect(body).toMatchObject({ license: { entitlements: ['beta', 'export', 'sync'] } })
  })

  test('overrides for its own product and for all products', async () => {
    const id = await customer(
      grant('all'),
      grant('mine', { productId: 'editor' }),
      grant('other', { productId: 'player' }),
    )
    expect(await everywhere(await license(id))).toStrictEqual(allSay('all', 'export', 'mine', 'sync'))
    const played = await license(id, 'player', 'basic')
    expect(await runtime('activate', played.licenseKey, 'player')).toMatchObject({
      entitlements: ['all', 'other', 'play'],
    })
  })

  test('the overrides of its customer from the moment it is linked, and none of other customers', async () => {
    await customer(grant('beta'))
    const minted = await mint(api.ask, tenant.token, 'editor', { keyTypeId: 'perpetual' })
    expect(await everywhere(minted)).toStrictEqual(allSay('export', 'sync'))
    const id = await customer(grant('beta'))
    const body = { licenseId: minted.id }
    await api.ask('POST', `/v1/customers/${id}/link-license`, { token: tenant.token, body })
    expect(await everywhere(minted)).toStrictEqual(allSay('beta', 'export', 'sync'))
  })

  test('the current overrides after every change', async () => {
    const id = await customer()
    const minted = await license(id)
    await runtime('activate', minted.licenseKey)
    for (let n = 0; n < 20; n++) {
      await override(id, grant(`round-${n}`))
      expect(await runtime('validate', minted.licenseKey)).toMatchObject({
        entitlements: ['export', `round-${n}`, 'sync'],
      })
    }
    await override(id)
    expect(await everywhere(minted)).toStrictEqual(allSay('export', 'sync'))
  })

  test('an override until it expires, with that time as revalidate_after', async () => {
    const id = await customer(grant('beta', { expiresAt: at(60) }), revoke('sync', { expiresAt: at(120) }))
    const minted = await license(id)
    await runtime('activate', minted.licenseKey)
    const says = async (seconds: number) => {
      api.ledger.clock.set(at(seconds))
      return runtime('validate', minted.licenseKey)
    }
    const answer = { valid: true, status: 'active', expires_at: null, device_id: 'laptop' }
    expect(await says(59)).toStrictEqual({
      ...answer,
      entitlements: ['beta', 'export'],
      revalidate_after: now + 60,
    })
    expect(await says(60)).toStrictEqual({ ...answer, entitlements: ['export'], revalidate_after: now + 120 })
    expect(await says(120)).toStrictEqual({
      ...answer,
      entitlements: ['export', 'sync'],
      revalidate_after: now + 120 + 600,
    })
  })
})

describe('after its expiry a license', () => {
  const overrides = [grant('beta'), revoke('read'), grant('extra', { expiresAt: at(2 * 86_400) })]

  test('in fallback grants the fallback entitlements with the overrides applied', async () => {
    const { licenseKey } = await license(await customer(...overrides), 'editor', 'soft')
    await runtime('activate', licenseKey)
    api.ledger.clock.set(at(2 * 86_400 - 60))
    expect(await runtime('validate', licenseKey)).toMatchObject({
      valid: false,
      status: 'fallback',
      entitlements: ['beta', 'extra'],
      revalidate_after: now + 2 * 86_400,
    })
  })

  test('that is expired or revoked grants nothing, despite overrides', async () => {
    const id = await customer(...overrides)
    const [expired, revoked] = [await license(id, 'editor', 'hard'), await license(id)]
    await commandLicense(api.ledger, revoked.id, { type: 'RevokeLicense', reason: null, at: beginning })
    api.ledger.clock.set(at(86_400))
    for (const { id: licenseId, licenseKey } of [expired, revoked]) {
      expect(await runtime('validate', licenseKey)).toMatchObject({ valid: false, entitlements: [] })
      const { body } = await api.ask('GET', `/v1/licenses/${licenseId}`, { token: tenant.token })
      expect(body).toMatchObject({ license: { entitlements: [] } })
    }
  })
})

test('validate returns `unavailable` when the overrides cannot be read', async () => {
  const id = await customer(revoke('sync'))
  const minted = await license(id)
  await runtime('activate', minted.licenseKey)
  const unreadable = {
    id: crypto.randomUUID(),
    type: 'EntitlementOverridesReplaced',
    contentType: 'application/json',
    data: { overrides: 'all of them' },
    metadata: {},
  } as const
  await api.ledger.readModels.advanceTo(await appendRaw(api.ledger, customerStream(id), [unreadable], 1n))
  expect(await runtime('validate', minted.licenseKey)).toMatchObject({ error: { code: 'unavailable' } })
  const untouched = await license(await customer())
  expect(await runtime('validate', untouched.licenseKey)).toMatchObject({ status: 'inactive' })
})
