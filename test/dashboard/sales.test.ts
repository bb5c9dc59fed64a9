/**
 * Guarantee: a sale's page shows its history, from the notification to the deliveries to vendor and customer,
 * including ignored tests; a parked sale can be replayed there. No page shows a key.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { findDelivery, listDeliveries } from '../../projections/deliveries/queries.ts'
import { listSales } from '../../projections/sales/queries.ts'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { askRedelivery, recordInterruption } from '../../src/commands/deliveries.ts'
import { createMailChannel } from '../../src/mail/channel.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { pointWebhook, startDispatch, type TestDispatch } from '../harness/dispatch.ts'
import { beginning, origin } from '../harness/ledger.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'
import { makeProduct } from '../http/samples.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'
import { wordsOf as words } from './words.ts'

let api: TestApi
let shop: Shop
let owner: Client
let receiver: StandIn
let dispatch: TestDispatch
beforeAll(async () => {
  api = await openTestApi()
  const { ledger } = api
  shop = await openShop(api)
  receiver = await startStandIn(() => ({ status: 202, body: { ok: true } }))
  await pointWebhook(ledger, shop.tenantId, `${receiver.url}/hook`)
  dispatch = await startDispatch(ledger, {
    channels: { mail: createMailChannel(ledger.ports, 'https://keys.acme.example') },
  })
  owner = clientOf(api.app, '192.0.2.1')
  await owner.signIn(await makeMember(ledger, shop.tenantId, 'owner'))
})
afterAll(async () => {
  await dispatch.stop()
  await receiver.close()
  await api.close()
})

const pathOf = async (saleId: string) => {
  const { items } = await listSales(api.ledger.db, shop.tenantId, {}, { after: undefined, limit: 100 })
  return `/dashboard/sales/${items.find((sale) => sale.saleId === saleId)?.id}`
}

const keyIn = (body: string) => /"key":"([^"]+)"/.exec(body)?.[1] ?? 'none'

test('a sale is shown from its notification to its deliveries, and a repeated notification as ignored', async () => {
  const { sold, refunded } = purchase('ada')
  await shop.tell(sold())
  await shop.tell(sold({ notificationId: 'evt_again' }))
  const path = await pathOf('cs_ada')
  await expect
    .poll(async () => words((await owner.get(path)).text))
    .toMatch(
      /Notification verified .* Deduplication ignored 1 more notification .* License licensed .* Email delivered 1 attempt Webhook delivered 1 attempt/,
    )
  const { text } = await owner.get(path)
  const key = keyIn(receiver.asked[0]?.body ?? '')
  expect(key).toMatch(/^[A-Z]+-/)
  expect(text).not.toContain(key)
  expect(words(text)).toMatch(/Payment notification verified evt_ada_sold/)
  expect(words(text)).toMatch(/Duplicate notification ignored evt_again/)
  await shop.tell(refunded('re_1'))
  expect(words((await owner.get(path)).text)).toMatch(/refunded .* Refunded in full \$49\.00/)
  expect((await owner.get('/dashboard/sales?status=licensed')).text).toContain('ada@example.com')
  expect(words((await owner.get('/dashboard/sales?provider=paddle')).text)).toContain(
    'No sales match these filters',
  )
  expect((await owner.get('/dashboard/sales?product=editor')).text).toContain('ada@example.com')
  expect(words((await owner.get('/dashboard/sales?product=player')).text)).toContain(
    'No sales match these filters',
  )
})

test('a delivery is shown with its attempts and content, and is redelivered', async () => {
  const list = await owner.get('/dashboard/deliveries?channel=webhook&event=license.created')
  const path = /href="(\/dashboard\/deliveries\/whd_\w+)"/.exec(list.text)?.[1] ?? ''
  const { text } = await owner.get(path)
  const [first] = receiver.asked
  const { license_id: licenseId } = z
    .looseObject({ license_id: z.string() })
    .parse(JSON.parse(first?.body ?? ''))
  expect(list.text).toContain(`href="/dashboard/licenses/${licenseId}"`)
  expect(words(list.text)).toMatch(/license\.created Webhook http:\/\/127\.0\.0\.1:\d+\S* lic_\w+ delivered/)
  const key = keyIn(first?.body ?? '')
  expect(text).not.toContain(key)
  expect(words(text)).toMatch(
    /Status delivered .* succeeded 202 .* Payload .* "customer_email": "ada@example\.com"/,
  )
  expect(words(text)).toContain('…')
  expect(words(text)).toContain('openssl dgst -sha256 -hmac "$SECRET" -hex')
  const id = path.split('/').at(-1)
  const times = () =>
    receiver.asked.filter(({ body }) => body.includes(`"${id}"`) && body.includes('license.created')).length
  const before = times()
  expect(await owner.post(`${path}/redeliver`)).toMatchObject({ status: 303, location: path })
  await expect.poll(times).toBe(before + 1)
  expect((await owner.get('/dashboard/deliveries?status=abandoned')).text).toContain(
    'No deliveries match these filters',
  )
})

test('an attempt without a result is shown as unknown', async () => {
  const { ports } = api.ledger
  const [delivery] = (
    await listDeliveries(
      ports.db,
      shop.tenantId,
      { channel: 'webhook', status: 'delivered' },
      { after: undefined, limit: 1 },
    )
  ).items
  const { deliveryId = '' } = delivery ?? {}
  await dispatch.stop()
  await askRedelivery(ports, shop.tenantId, deliveryId, origin)
  const entry = await findDelivery(ports.db, shop.tenantId, deliveryId)
  if (!entry) throw new Error('there is no delivery')
  await recordInterruption(ports, entry, beginning, origin)
  expect(words((await owner.get(`/dashboard/deliveries/${deliveryId}`)).text)).toMatch(
    /unknown – The process ended before the response was recorded\./,
  )
  dispatch = await startDispatch(api.ledger, {
    channels: { mail: createMailChannel(api.ledger.ports, 'https://keys.acme.example') },
  })
  await expect
    .poll(async () => (await findDelivery(ports.db, shop.tenantId, deliveryId))?.delivery.status)
    .toBe('delivered')
})

test('a parked sale shows the reason, and is replayed', async () => {
  await shop.tell(purchase('grace', { sold: { productId: 'player' } }).sold())
  const path = await pathOf('cs_grace')
  expect(words((await owner.get('/dashboard/sales?status=parked')).text)).toContain('grace@example.com')
  expect(words((await owner.get(path)).text)).toMatch(
    /Parked: .* to a product that does not exist\. player .* This is .* License sale .*Replay sale/,
  )
  await owner.post(`${path}/replay`)
  expect(words((await owner.get(path)).text)).toContain('Parked')
  await makeProduct(api.ask, shop.token, 'player')
  expect(await owner.post(`${path}/replay`)).toMatchObject({ status: 303, location: path })
  expect(words((await owner.get(path)).text)).toMatch(/Sale replayed\..* License licensed/)
})

test('a sale without a known buyer and with too many items shows both, and is found by what it needs', async () => {
  await shop.tell(purchase('ghost', { customer: null, quantity: 2 }).sold())
  const path = await pathOf('cs_ghost')
  expect(words((await owner.get('/dashboard')).text)).toContain('1 sale without a holder')
  const list = words((await owner.get('/dashboard/sales?needs=holder')).text)
  expect(list).toMatch(/No email address .* licensed no holder quantity exceeded/)
  expect(list).not.toContain('ada@example.com')
  const page = words((await owner.get(path)).text)
  expect(page).toContain('The provider sent no email address, so no email was sent.')
  expect(page).toContain('2 were paid for, but the key type monthly is not sold in multiples.')
  expect(page).toContain('Quantity exceeded 2 paid for, at most 1 per purchase')
})

test('a sale of several items shows each with its license, and what is not mapped until it is', async () => {
  const token = shop.token
  await api.ask('POST', '/v1/integrations/paddle/connect', { token, body: { webhookSecret: 'pdl_secret' } })
  const map = (prices: object) =>
    api.ask('POST', '/v1/products/editor/integrations/paddle', { token, body: { prices } })
  await map({ pri_month: 'monthly', pri_team: 'forever' })
  const more = ['pri_team', 'pri_icons'].map((id) => ({ sold: { providerProduct: id }, quantity: 3 }))
  const sold = { providerProduct: 'pri_month' }
  await shop.tell(purchase('several', { provider: 'paddle', sold, more }).sold())
  const path = await pathOf('cs_several')
  const shown = async () => words((await owner.get(path)).text)
  expect(await shown()).toMatch(
    /3 × pri_icons was bought too .* Replay sale .* pri_month 1 editor , monthly \S+…\S+ .* pri_team 3 editor , forever \S+…\S+ .* pri_icons 3 not mapped none/,
  )
  await map({ pri_month: 'monthly', pri_team: 'forever', pri_icons: 'forever' })
  expect(await owner.post(`${path}/replay`)).toMatchObject({ status: 303, location: path })
  expect(await shown()).toMatch(/pri_icons 3 editor , forever \S+…\S+ /)
  expect(await shown()).not.toContain('not mapped to a key type')
})

test('a failed renewal is shown with its sale and its license until it is paid', async () => {
  const { sold, failed, renewed } = purchase('failing')
  await shop.tell(sold())
  await shop.tell(failed('in_1', { nextAttemptAt: '2026-04-04T12:00:00.000Z' }))
  const path = await pathOf('cs_failing')
  const warning =
    'The payment for the renewal failed on 2026-04-01 12:00:00 UTC. The provider tries again on 2026-04-04 12:00:00 UTC.'
  const { text } = await owner.get(path)
  expect(words(text)).toContain('renewal failed')
  expect(words(text)).toContain(warning)
  expect(words(text)).toMatch(/Renewal payment failed in_1, attempt 1, next attempt/)
  const license = /href="(\/dashboard\/licenses\/lic_\w+)"/.exec(text)?.[1] ?? ''
  const shown = words((await owner.get(license)).text)
  expect(shown).toContain(warning)
  expect(shown).toContain('Payment for the renewal failed; next attempt on 2026-04-04 12:00:00 UTC')
  await shop.tell(renewed('in_1', month.second))
  expect(words((await owner.get(path)).text)).not.toContain(warning)
  expect(words((await owner.get(license)).text)).not.toContain(warning)
})

test('a test without effect is shown below the sales, with the reason', async () => {
  await shop.tell(purchase('try', { test: true }).sold())
  const list = words((await owner.get('/dashboard/sales')).text)
  expect(list).toMatch(
    /Ignored test notifications .* Stripe, sold evt_try_sold The product editor is not in test mode/,
  )
  expect((await owner.get('/dashboard/sales?status=licensed')).text).not.toContain('evt_try_sold')
})

test('a customer’s page lists the sales of their licenses and of their email address, the newest first', async () => {
  const makeCustomer = async (email: string) => {
    const { text } = await api.ask('POST', '/v1/customers', { token: shop.token, body: { email } })
    return /cus_\w+/.exec(text)?.[0] ?? ''
  }
  const salesOn = async (path: string) => {
    const { text } = await owner.get(path)
    return [...text.matchAll(/href="(\/dashboard\/sales\/sal_\w+)"/g)].map(([, found]) => found)
  }
  const hopper = await makeCustomer('hopper@example.com')
  expect(words((await owner.get(`/dashboard/customers/${hopper}`)).text)).toContain('No sales.')
  await shop.tell(purchase('hopper').sold())
  api.ledger.clock.advance(1000)
  await shop.tell(purchase('murray').sold())
  const [own, linked] = [await pathOf('cs_hopper'), await pathOf('cs_murray')]
  const sale = (await shop.sales()).find(({ saleId }) => saleId === 'cs_murray')
  const body = { licenseId: sale?.licenseId }
  await api.ask('POST', `/v1/customers/${hopper}/link-license`, { token: shop.token, body })
  expect(await salesOn(`/dashboard/customers/${hopper}`)).toStrictEqual([linked, own])
  expect(await salesOn(`/dashboard/sales?customer=${hopper}`)).toStrictEqual([linked, own])
  expect(await salesOn(`/dashboard/sales?customer=${hopper}&status=parked`)).toStrictEqual([])
  expect((await owner.get(`/dashboard/customers/${hopper}`)).text).not.toContain('Show all sales')
  expect(words((await owner.get(`/dashboard/customers/${hopper}`)).text)).toMatch(/Paid [$€]\d+\.\d\d/)

  for (const name of Array.from({ length: 20 }, (_, index) => `many_${index}`))
    await shop.tell(purchase(name, { customer: { email: 'hopper@example.com' } }).sold())
  expect(await salesOn(`/dashboard/customers/${hopper}`)).toHaveLength(20)
  expect((await owner.get(`/dashboard/customers/${hopper}`)).text).toContain(
    `href="/dashboard/sales?customer=${hopper}"`,
  )
  expect(await salesOn(`/dashboard/sales?customer=${hopper}`)).toHaveLength(22)

  const other = await openShop(api)
  const stranger = clientOf(api.app, '192.0.2.3')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  for (const id of [hopper, 'cus_00000000000000000000000000', 'nobody'])
    expect((await stranger.get(`/dashboard/sales?customer=${id}`)).status).toBe(404)
})

test('another workspace sees nothing of it', async () => {
  const other = await openShop(api)
  const stranger = clientOf(api.app, '192.0.2.2')
  await stranger.signIn(await makeMember(api.ledger, other.tenantId, 'owner'))
  const path = await pathOf('cs_ada')
  expect((await stranger.get(path)).status).toBe(404)
  expect((await stranger.post(`${path}/replay`)).status).toBe(404)
  expect((await stranger.get('/dashboard/sales')).text).not.toContain('ada@example.com')
})

test('customers are filtered to one person, who is not named in the URL, and to erased ones', async () => {
  const { ledger } = api
  for (const email of ['Grace@example.com', 'linus@example.com']) {
    const body = { email }
    expect((await api.ask('POST', '/v1/customers', { token: shop.token, body })).status).toBe(201)
  }
  await owner.get('/dashboard/customers')
  const find = async (text: string) => {
    const { status, location, text: body } = await owner.post('/dashboard/customers/find', { text })
    if (status === 200) return words(body)
    expect(status).toBe(303)
    expect(location).not.toMatch(/@|%40|grace/)
    return words((await owner.get(location ?? '')).text)
  }
  for (const text of [' grace@example.com ', 'GRACE', 'race@ex']) {
    expect(await find(text)).toMatch(/Showing one person.* grace@example\.com /i)
    expect(await find(text)).not.toContain('linus@example.com')
  }
  for (const name of ['Grace@', 'linus@']) expect(await find('@example.com')).toContain(name)
  for (const text of ['gr', 'nobody']) expect(await find(text)).toContain('No customer found')
  expect(await find('')).toContain('linus@example.com')

  const grace = await ledger.ports.subjects.findSubject(shop.tenantId, 'grace@example.com')
  await eraseSubject(ledger.ports, shop.tenantId, grace ?? '', origin)
  expect(await find('grace@example.com')).toContain('No customer found')
  const erased = words((await owner.get('/dashboard/customers?status=erased')).text)
  const present = words((await owner.get('/dashboard/customers?status=present')).text)
  expect([erased, present].map((text) => text.includes('linus@example.com'))).toStrictEqual([false, true])
  const pathOfGrace = `/dashboard/customers?person=${grace}`
  expect(words((await owner.get(pathOfGrace)).text)).toMatch(/ cus_\w+ /)
  expect(words((await owner.get(`${pathOfGrace}&status=present`)).text)).toContain(
    'No customers match these filters',
  )
  expect(words((await owner.get('/dashboard/customers?person=%00')).text)).toContain(
    'No customers match these filters',
  )
})
