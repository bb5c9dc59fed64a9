/**
 * Guarantee: a test purchase takes the path of a real one: signed like the provider's, received at the provider's
 * own URL, up to a license marked as a test. A wrong secret stops it at the beginning.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { listLicenses } from '../../../projections/licenses/queries.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import type { ProviderStandIns } from '../../harness/providers.ts'
import { openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct } from '../../http/samples.ts'

let standIns: ProviderStandIns
let api: SellingApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openSellingApi()
  ;({ standIns } = api)
})
afterAll(() => api.close())
beforeEach(async () => {
  // The time of a signature is checked.
  api.ledger.clock.set(new Date().toISOString())
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro' }, { name: 'Team' }] })
})

const post = (url: string, body: unknown) => api.ask('POST', url, { token: tenant.token, body })

const Shown = z.object({
  testPurchase: z.object({
    id: z.string(),
    status: z.string(),
    stages: z.array(z.object({ name: z.string(), status: z.string(), detail: z.string().nullable() })),
    licenseId: z.string().optional(),
  }),
})

async function outcome(body: object) {
  const { id } = Shown.parse((await post('/v1/test-purchase', body)).body).testPurchase
  const poll = async () =>
    Shown.parse((await api.ask('GET', `/v1/test-purchase/${id}`, { token: tenant.token })).body).testPurchase
  await expect.poll(async () => (await poll()).status).not.toBe('running')
  return poll()
}

async function licenses() {
  const now = api.ledger.clock.now().toISOString()
  const all = { after: undefined, limit: 10 }
  const { items } = await listLicenses(api.ledger.db, tenant.tenantId, {}, now, all)
  return items.map(({ license }) => license)
}

const mappings = {
  gumroad: { permalinks: ['editor'] },
  lemonsqueezy: { variants: { 11: 'team' } },
  paddle: { prices: { pri_team: 'team' } },
  polar: { products: { prod_team: 'team' } },
}

test.each(Object.entries(mappings))(
  'a test purchase through %s issues a license that is marked as a test',
  async (provider, mapping) => {
    const credentials = provider === 'gumroad' ? undefined : { webhookSecret: 'a-secret-of-the-provider' }
    await post(`/v1/integrations/${provider}/connect`, credentials)
    await post(`/v1/products/editor/integrations/${provider}`, mapping)
    const keyTypeId = provider === 'gumroad' ? 'pro' : 'team'
    const purchase = await outcome({ productId: 'editor', keyTypeId, provider })
    expect(purchase).toMatchObject({
      status: 'succeeded',
      stages: [
        { name: 'checkout', status: 'done' },
        {
          name: 'webhook',
          status: 'done',
          detail: `a notification with the signature of ${provider} got 200`,
        },
        { name: 'license_minted', status: 'done' },
      ],
    })
    const [license, ...others] = await licenses()
    expect(others).toStrictEqual([])
    expect(license).toMatchObject({
      licenseId: purchase.licenseId,
      keyTypeId,
      source: 'test',
      test: true,
      saleId: purchase.id,
    })
  },
)

test('a test purchase through stripe in test mode issues a license that is marked as a test', async () => {
  const testKeys = { publishableKey: 'pk_test_own', secretKey: 'sk_test_own' }
  await post('/v1/products/editor/test-mode', testKeys)
  standIns.stripe.keys.add(testKeys.secretKey)
  standIns.stripe.prices.set('price_once', { owner: testKeys.secretKey })
  await post('/v1/products/editor/integrations/stripe', { prices: { pro: 'price_once' } })
  const purchase = await outcome({ productId: 'editor' })
  expect(purchase.stages.map(({ status }) => status)).toStrictEqual(['done', 'done', 'done'])
  expect(await licenses()).toMatchObject([{ keyTypeId: 'pro', source: 'test', test: true }])
})
