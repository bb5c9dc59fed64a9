import {
  configureCreditPacks,
  configureProductIntegration,
  connectIntegration,
  connectOwnStripeAccount,
  createProduct,
  createProviderEndpoint,
  getSale,
  getUseReports,
  listIgnoredTests,
  listParkedSales,
  listSales,
  listUnmatchedPayments,
  mapSale,
  replaySale,
  setUseReports,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'

const { POLAR_KEY: polarKey = '', STRIPE_KEY: apiKey = '', STRIPE_PRICE: price = '' } = process.env

const connected = await connectOwnStripeAccount({ body: { apiKey, webhookSecret: 'whsec_of_the_account' } })
expect('the own account at Stripe is connected', connected.data, (answer) => answer.integration.connected)
await configureProductIntegration({
  path: { productId: 'editor', provider: 'stripe' },
  body: { prices: { forever: price } },
})
await rehearsed((query) => setUseReports({ query, body: { on: true } }))
await setUseReports({ body: { on: true } })
expect('uses are reported', (await getUseReports()).data, ({ on }) => on)

const paddle = { path: { provider: 'paddle' }, body: { webhookSecret: 'pdl_of_the_account' } } as const
await rehearsed((query) => connectIntegration({ ...paddle, query }))
await connectIntegration(paddle)
const parked = await listParkedSales({ query: { order: 'oldest' } })
const { items } = expect('two sales are parked', parked.data, (page) => page.items.length === 2)
const unmapped = items.find(({ provider }) => provider === 'paddle')
const late = items.find(({ provider }) => provider === 'stripe')
const prices = { prices: { pri_other: 'forever' } }
await rehearsed((query) =>
  configureProductIntegration({ path: { productId: 'editor', provider: 'paddle' }, query, body: prices }),
)
const packs = { packs: [{ id: 'pri_pack', meter: 'calls', amount: '500', days: 365 }] }
const selling = { path: { productId: 'editor', provider: 'paddle' }, body: packs } as const
await rehearsed((query) => configureCreditPacks({ ...selling, query }))
const sells = await configureCreditPacks(selling)
expect('credits are sold', sells.data, ({ integration }) =>
  integration.products.some(({ creditPacks }) => creditPacks?.[0]?.amount === '500'),
)
const toMap = { path: { id: unmapped?.id ?? '' }, body: { productId: 'editor', keyTypeId: 'forever' } }
await rehearsed((query) => mapSale({ ...toMap, query }))
const mapped = await mapSale(toMap)
expect('what was sold is said', mapped.data, ({ licensed }) => licensed === 1)
await createProduct({ body: { productId: 'late', name: 'Late' } })
await rehearsed((query) => replaySale({ path: { id: late?.id ?? '' }, query }))
const replayed = await replaySale({ path: { id: late?.id ?? '' } })
expect('the other is licensed by a replay', replayed.data, ({ sale }) => sale.status === 'licensed')
const sale = await getSale({ path: { id: unmapped?.id ?? '' } })
expect('the first has its license', sale.data, (answer) => answer.sale.status === 'licensed')
const listed = await listSales({
  query: { status: 'licensed', provider: 'paddle', product: 'editor', order: 'oldest' },
})
expect('it is listed', listed.data, (page) => page.items.length === 1)
await listSales({ query: { needs: 'holder' } })
await listIgnoredTests({ query: { order: 'oldest' } })
const unmatched = await listUnmatchedPayments({ query: { order: 'oldest' } })
expect('no refund is without a sale', unmatched.data, (page) => page.items.length === 0)

const polar = await createProviderEndpoint({ path: { provider: 'polar' }, body: { apiKey: polarKey } })
expect('an endpoint is created at Polar', polar.data, ({ integration }) => integration.connected)
