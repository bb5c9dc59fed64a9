/**
 * Guarantee: a checkout sells a credit pack as it sells a license. What could not be added after the payment is refused before it, and
 * what was paid is added once to the license that was named, or that the buyer has.
 */
import { Stripe } from 'stripe'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { issueCheckoutKey } from '../../../src/commands/client-keys.ts'
import { makeTenant, type TestTenant } from '../../harness/api.ts'
import { origin, uniqueId } from '../../harness/ledger.ts'
import { connectAccount, openSellingApi, type SellingApi } from '../../harness/selling-api.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: SellingApi
let tenant: TestTenant
let checkoutKey: string
beforeAll(async () => {
  api = await openSellingApi()
})
afterAll(() => api.close())

const webhookSecret = 'whsec_of_the_account'
const minutes = { meter: 'minutes', unit: 'minutes', included: '0', period: 'license', overage: 'block' }
const pack = { meter: 'minutes', amount: '500', days: 365 }
const email = 'ada@example.com'
const packsUrl = '/v1/products/renderer/integrations/stripe/credit-packs'

beforeEach(async () => {
  tenant = await makeTenant(api.ledger)
  api.standIns.stripe.health = 'well'
  api.standIns.stripe.asked.length = 0
  await makeProduct(api.ask, tenant.token, 'renderer', {
    keyTypes: [{ name: 'Pro', meters: [minutes] }, { name: 'None' }],
  })
  await makeProduct(api.ask, tenant.token, 'editor', { keyTypes: [{ name: 'Pro', meters: [minutes] }] })
  checkoutKey = (await issueCheckoutKey(api.ledger.ports, tenant.tenantId, origin)).checkoutKey
})

const post = (url: string, body: object) => api.ask('POST', url, { token: tenant.token, body })

/** Connects the vendor's own account, which has these prices, and maps them as packs. */
async function sellPacks(kind: 'rk_live' | 'rk_test' = 'rk_live', amount = pack.amount): Promise<void> {
  const apiKey = `${kind}_${uniqueId('packs')}`
  const { keys, prices } = api.standIns.stripe
  keys.add(apiKey)
  prices.set('price_pack', { owner: apiKey, unit_amount: 1900 })
  prices.set('price_monthly', { owner: apiKey, recurring: { interval: 'month', interval_count: 1 } })
  prices.set('price_archived', { owner: apiKey, active: false })
  await post('/v1/integrations/stripe/own-account', { apiKey, webhookSecret })
  const ids = ['price_pack', 'price_monthly', 'price_archived', 'price_absent']
  const packs = ids.map((id) => ({ id, ...pack, amount }))
  expect(await post(packsUrl, { packs })).toMatchObject({
    status: 200,
  })
}

const make = (keyTypeId = 'pro', of = email, productId = 'renderer') =>
  mint(api.ask, tenant.token, productId, { keyTypeId, email: of })
const wanted = {
  ...{ product_id: 'renderer', pack_id: 'price_pack', customer_email: email },
  success_url: 'https://acme.example/thanks',
  cancel_url: 'https://acme.example/prices',
}
const buy = (more: object = {}) =>
  api.ask('POST', `/api/${tenant.tenantId}/checkout`, { token: checkoutKey, body: { ...wanted, ...more } })

const sessionsAsked = () => api.standIns.stripe.asked.filter(({ path }) => path === '/v1/checkout/sessions')
/** The last session that Stripe was asked to create. */
const asked = () => Object.fromEntries(new URLSearchParams(sessionsAsked().at(-1)?.body))

/** Stripe's notification that the last session was paid. */
function paid({ livemode = true, paidBy = email } = {}) {
  const metadata = Object.fromEntries(
    Object.entries(asked()).flatMap(([name, value]) => {
      const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? []
      return field === undefined ? [] : [[field, value]]
    }),
  )
  const object = {
    ...{ id: uniqueId('cs'), object: 'checkout.session', mode: 'payment', payment_status: 'paid' },
    ...{ amount_total: 1900, currency: 'usd', payment_intent: uniqueId('pi') },
    customer_details: { email: paidBy, name: 'Ada' },
    metadata,
  }
  return { object: 'event', type: 'checkout.session.completed', livemode, data: { object } }
}
async function send(event: ReturnType<typeof paid>) {
  const created = Math.floor(api.ledger.clock.now().getTime() / 1000)
  const raw = JSON.stringify({ id: uniqueId('evt'), created, ...event })
  const signed = { payload: raw, timestamp: created, secret: webhookSecret }
  const headers = { 'stripe-signature': Stripe.webhooks.generateTestHeaderString(signed) }
  const { status, body } = await api.ask('POST', `/api/stripe/webhook/${tenant.tenantId}`, { raw, headers })
  return { status, body }
}

const Meters = z.object({ meters: z.array(z.looseObject({ credits: z.array(z.looseObject({})) })) })
const creditsOf = async (licenseId: string) => {
  const { body } = await api.ask('GET', `/v1/licenses/${licenseId}/meters`, { token: tenant.token })
  return Meters.parse(body).meters.flatMap(({ credits }) => credits)
}
const Sales = z.object({ items: z.array(z.looseObject({ status: z.string() })) })
const sales = async () => Sales.parse((await api.ask('GET', '/v1/sales', { token: tenant.token })).body).items

describe('a checkout of a pack', () => {
  test('names the pack and the license, and its payment adds the credit once', async () => {
    await sellPacks()
    await make()
    const { id } = await make('pro', 'another@example.com')
    expect(await buy({ license_id: id, quantity: 2 })).toMatchObject({ status: 200 })
    expect(asked()).toStrictEqual({
      mode: 'payment',
      'line_items[0][price]': 'price_pack',
      'line_items[0][quantity]': '2',
      success_url: wanted.success_url,
      cancel_url: wanted.cancel_url,
      customer_email: email,
      'metadata[tenant_id]': tenant.tenantId,
      'metadata[product_id]': 'renderer',
      'metadata[pack_id]': 'price_pack',
      'metadata[license_id]': id,
      'metadata[quantity]': '2',
      'payment_intent_data[metadata][tenant_id]': tenant.tenantId,
      'payment_intent_data[metadata][product_id]': 'renderer',
      'payment_intent_data[metadata][pack_id]': 'price_pack',
      'payment_intent_data[metadata][license_id]': id,
      'payment_intent_data[metadata][quantity]': '2',
    })
    const event = paid()
    const taken = { status: 200, body: { received: true } }
    expect(await send(event)).toStrictEqual(taken)
    expect(await send(event)).toStrictEqual({ status: 200, body: { received: true, duplicate: true } })
    expect(await creditsOf(id)).toMatchObject([{ left: '1000' }])
    expect(await sales()).toMatchObject([
      { status: 'licensed', licenseId: null, credits: [{ licenseId: id, amount: '1000' }] },
    ])
  })

  test('without a license adds to the newest of the buyer that has the meter, once for any number of notifications at a time', async () => {
    await sellPacks()
    const { id } = await make()
    await make('none')
    await make('pro', email, 'editor')
    expect(await buy()).toMatchObject({ status: 200 })
    expect(asked()).not.toHaveProperty('metadata[license_id]')
    const event = paid()
    await Promise.all(Array.from({ length: 4 }, () => send(event)))
    expect(await creditsOf(id)).toMatchObject([{ left: '500' }])
  })

  test('pays the platform its fee, as every checkout of a connected account does', async () => {
    const owner = uniqueId('acct')
    const { accounts, prices } = api.standIns.stripe
    accounts.set(owner, { detailsSubmitted: true, chargesEnabled: true })
    prices.set('price_pack', { owner, unit_amount: 2000 })
    await connectAccount(api.ledger.ports, tenant.tenantId, owner)
    await post(packsUrl, { packs: [{ id: 'price_pack', ...pack }] })
    await make()
    expect(await buy({ quantity: 2 })).toMatchObject({ status: 200 })
    expect(asked()).toMatchObject({ 'payment_intent_data[application_fee_amount]': '20' })
  })

  test('in test mode adds to a license of a test, and is refused for one that was paid', async () => {
    await post('/v1/products/renderer/test-mode', {})
    await sellPacks('rk_test')
    const real = await make()
    const refused = { status: 422, headers: { 'error-code': 'no_license_for_credit' } }
    expect(await buy()).toMatchObject(refused)
    expect(await buy({ license_id: real.id })).toMatchObject(refused)
    const license = { product_id: 'renderer', key_type_id: 'pro' }
    const trial = paid({ livemode: false })
    await send({ ...trial, data: { object: { ...trial.data.object, metadata: license } } })
    const [sale] = await sales()
    const { licenseId } = z.object({ licenseId: z.string() }).parse(sale)
    expect(await buy()).toMatchObject({ status: 200 })
    await send(paid({ livemode: false }))
    expect(await creditsOf(licenseId)).toMatchObject([{ left: '500' }])
    expect(await creditsOf(real.id)).toStrictEqual([])
  })

  test('that is paid after its pack was removed is parked, and added once the pack is back', async () => {
    await sellPacks()
    const { id } = await make()
    await buy({ license_id: id })
    await post(packsUrl, { packs: [] })
    const event = paid()
    await send(event)
    expect(await sales()).toMatchObject([{ status: 'parked', parked: { reason: 'no_mapping' } }])
    await post(packsUrl, { packs: [{ id: 'price_pack', ...pack }] })
    await send(event)
    expect(await sales()).toMatchObject([{ status: 'licensed' }])
    expect(await creditsOf(id)).toMatchObject([{ left: '500' }])
  })
})

describe('no payment page is opened', () => {
  const refusals: [of: string, more: object, status: number, code: string][] = [
    ['an unknown pack', { pack_id: 'price_other' }, 404, 'pack_not_found'],
    ['a pack of another product', { product_id: 'editor' }, 404, 'pack_not_found'],
    ['a price that Stripe does not have', { pack_id: 'price_absent' }, 422, 'pack_without_price'],
    ['an archived price', { pack_id: 'price_archived' }, 422, 'pack_without_price'],
    ['a price that is paid repeatedly', { pack_id: 'price_monthly' }, 422, 'pack_without_price'],
    ['a buyer without a license', { customer_email: 'grace@example.com' }, 422, 'no_license_for_credit'],
    ['an unknown license', { license_id: `lic_${'0'.repeat(26)}` }, 422, 'no_license_for_credit'],
    ['what is no license', { license_id: 'editor' }, 422, 'no_license_for_credit'],
    ['a key type as well', { key_type_id: 'pro' }, 400, 'validation_failed'],
    ['neither of them', { pack_id: undefined }, 400, 'validation_failed'],
    [
      'a license for a license',
      { pack_id: undefined, key_type_id: 'pro', license_id: 'lic_1' },
      400,
      'validation_failed',
    ],
    ['an id with a space', { pack_id: 'price pack' }, 400, 'validation_failed'],
  ]
  test.each(refusals)('for %s', async (_, more, status, code) => {
    await sellPacks()
    await make()
    expect(await buy(more)).toMatchObject({ status, headers: { 'error-code': code } })
    expect(sessionsAsked()).toStrictEqual([])
  })

  test('for a license without the meter, of another product, or that is suspended', async () => {
    await sellPacks()
    const none = await make('none')
    const other = await make('pro', email, 'editor')
    for (const { id } of [none, other]) {
      expect(await buy({ license_id: id })).toMatchObject({ status: 422 })
      expect(await buy()).toMatchObject({ status: 422 })
    }
    const { id } = await make()
    expect(await buy({ license_id: id })).toMatchObject({ status: 200 })
    await post(`/v1/licenses/${id}/suspend`, {})
    expect(await buy({ license_id: id })).toMatchObject({
      ...{ status: 422, headers: { 'error-code': 'no_license_for_credit' } },
    })
    expect(sessionsAsked()).toHaveLength(1)
  })

  test('for more than a meter can hold', async () => {
    await sellPacks('rk_live', '999999999')
    await make()
    expect(await buy({ quantity: 100_000 })).toMatchObject({
      ...{ status: 422, headers: { 'error-code': 'quantity_too_large' } },
    })
    expect(sessionsAsked()).toStrictEqual([])
  })

  test('without an account to sell with', async () => {
    await sellPacks()
    await make()
    await api.ask('DELETE', '/v1/integrations/stripe', { token: tenant.token })
    expect(await buy()).toMatchObject({ status: 409 })
  })

  test('while Stripe does not answer', async () => {
    await sellPacks()
    await make()
    api.standIns.stripe.health = 503
    expect(await buy()).toMatchObject({ status: 503 })
  })
})
