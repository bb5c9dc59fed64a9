import {
  configureProductIntegration,
  connectIntegration,
  connectOwnStripeAccount,
  createProduct,
  createProviderEndpoint,
  getSale,
  listIgnoredTests,
  listParkedSales,
  listSales,
  listUnmatchedPayments,
  mapSale,
  replaySale,
} from '../client/index.ts'
import { expect } from '../program.ts'

const { POLAR_KEY: polarKey = '', STRIPE_KEY: apiKey = '', STRIPE_PRICE: price = '' } = process.env

const connected = await connectOwnStripeAccount({ body: { apiKey, webhookSecret: 'whsec_of_the_account' } })
expect('the own account at Stripe is connected', connected.data, (answer) => answer.integration.connected)
await configureProductIntegration({
  path: { productId: 'editor', provider: 'stripe' },
  body: { prices: { forever: price } },
})

await connectIntegration({ path: { provider: 'paddle' }, body: { webhookSecret: 'pdl_of_the_account' } })
const parked = await listParkedSales({ query: { order: 'oldest' } })
const { items } = expect('two sales are parked', parked.data, (page) => page.items.length === 2)
const unmapped = items.find(({ provider }) => provider === 'paddle')
const late = items.find(({ provider }) => provider === 'stripe')
const mapped = await mapSale({
  path: { id: unmapped?.id ?? '' },
  body: { productId: 'editor', keyTypeId: 'forever' },
})
expect('what was sold is said', mapped.data, ({ licensed }) => licensed === 1)
await createProduct({ body: { productId: 'late', name: 'Late' } })
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
