/** Guarantee: sales are listed and read with their history, and a replay licenses a parked sale. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Method, openTestApi, type TestApi } from '../../harness/api.ts'
import { beginning } from '../../harness/ledger.ts'
import { makeCustomer, makeProduct } from '../../http/samples.ts'
import { month, purchase } from '../../sales/notifications.ts'
import { openShop, parkedSale, type Shop } from '../../sales/shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
  shop = await openShop(api)
})
afterAll(() => api.close())

const asks = async (method: Method, url: string) => {
  const { status, body } = await api.ask(method, url, { token: shop.token })
  return { status, body }
}
const Page = z.object({
  items: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().nullable(),
})
const list = async (query = '') => Page.parse((await asks('GET', `/v1/sales${query}`)).body)

test('a sale has its refunds, renewals, disputes and history', async () => {
  const { sold, refunded, renewed, dispute } = purchase('ada', { productName: 'The editor' })
  const outcome = await shop.tell(sold())
  await shop.tell(sold())
  await shop.tell(renewed('in_1', month.second))
  await shop.tell(refunded('re_1', 1000))
  await shop.tell(dispute('disputed'))
  if (outcome.outcome !== 'issued') throw new Error('nothing was issued')
  const { licenseId } = outcome.license
  const { items } = await list()
  const historyEntry = (type: string, notificationId: string | null, occurredAt: string | null) => ({
    type,
    at: beginning,
    actor: 'provider:stripe',
    requestId: 'req_notification',
    notificationId,
    occurredAt,
  })
  const soldAt = '2026-03-01T11:59:58.000Z'
  const sale = {
    id: expect.stringMatching(/^sal_[0-9a-z]{26}$/) as string,
    provider: 'stripe',
    saleId: 'cs_ada',
    sessionId: 'cs_ada',
    orderNumber: null,
    status: 'licensed',
    parked: null,
    productId: 'editor',
    keyTypeId: 'monthly',
    licenseId,
    licenses: [{ licenseId, productId: 'editor', keyTypeId: 'monthly', quantity: 1 }],
    credits: [],
    quantity: 1,
    email: 'ada@example.com',
    needsHolder: false,
    gift: null,
    notices: [],
    name: 'Ada Lovelace',
    amount: 4900,
    currency: 'usd',
    productName: 'The editor',
    test: false,
    refunded: 'partly',
    dispute: 'open',
    duplicates: 1,
    receivedAt: beginning,
    licensedAt: beginning,
  }
  expect(items).toStrictEqual([sale])
  expect(await asks('GET', `/v1/sales/${items[0]?.id}`)).toStrictEqual({
    status: 200,
    body: {
      sale: {
        ...sale,
        refunds: [{ refundId: 're_1', amount: 1000, currency: 'usd', full: false }],
        renewals: [{ paymentId: 'in_1', paidUntil: month.second, amount: 4900, currency: 'usd' }],
        disputes: [{ disputeId: 'dp_1', outcome: 'open', amount: 4900, currency: 'usd' }],
        history: [
          historyEntry('SaleReceived', 'evt_ada_sold', soldAt),
          historyEntry('SaleMapped', null, null),
          historyEntry('SaleLicensed', null, null),
          historyEntry('SalePaymentRecorded', null, null),
          historyEntry('DuplicateReceived', 'evt_ada_sold', null),
          historyEntry('SaleRenewed', 'evt_ada_in_1', month.second),
          historyEntry('SaleSettled', null, null),
          historyEntry('SaleRefunded', 'evt_ada_re_1', soldAt),
          historyEntry('SaleSettled', null, null),
          historyEntry('SaleDisputed', 'evt_ada_dp_1_disputed', soldAt),
          historyEntry('SaleSettled', null, null),
        ],
      },
    },
  })
  expect(await asks('POST', `/v1/sales/${items[0]?.id}/replay`)).toStrictEqual({
    status: 409,
    body: { error: 'the sale already has its license; there is nothing to replay' },
  })
})

test('a parked sale has a reason, and a replay licenses it after the cause is fixed', async () => {
  const id = await parkedSale(api.ledger, shop.tenantId)
  const parked = Page.parse((await asks('GET', '/v1/sales/parked')).body)
  expect(parked.items).toMatchObject([
    {
      id,
      status: 'parked',
      parked: { reason: 'product_not_found', detail: 'unknown', at: beginning },
      licenseId: null,
      licensedAt: null,
    },
  ])
  expect(await asks('POST', `/v1/sales/${id}/replay`)).toStrictEqual({
    status: 409,
    body: {
      error: 'the sale still cannot be licensed; fix the reason it gives, then replay it',
    },
  })
  await makeProduct(api.ask, shop.token, 'unknown')
  expect(await asks('POST', `/v1/sales/${id}/replay`)).toMatchObject({
    status: 200,
    body: { sale: { id, status: 'licensed', productId: 'unknown', parked: null } },
  })
  expect(await asks('GET', '/v1/sales/parked')).toStrictEqual({
    status: 200,
    body: { items: [], nextCursor: null },
  })
})

test('sales can be filtered and paged, newest first', async () => {
  api.ledger.clock.advance(1000)
  await shop.tell(purchase('gus', { provider: 'gumroad' }).sold())
  const all = (await list()).items
  expect(all).toHaveLength(3)
  expect(all[0]).toMatchObject({ provider: 'gumroad' })
  expect((await list('?provider=gumroad')).items).toStrictEqual(all.slice(0, 1))
  expect((await list('?product=unknown')).items).toMatchObject([{ productId: 'unknown' }])
  expect((await list('?status=parked')).items).toStrictEqual([])
  const first = await list('?limit=2')
  const rest = await list(`?limit=2&cursor=${encodeURIComponent(first.nextCursor ?? '')}`)
  expect([...first.items, ...rest.items]).toStrictEqual(all)
  expect(await asks('GET', '/v1/sales?status=lost')).toMatchObject({ status: 400 })
  expect(await asks('GET', '/v1/sales/nonsense')).toStrictEqual({
    status: 404,
    body: { error: 'sale not found' },
  })
})

test('a sale without a known buyer needs a holder until its license is linked to a customer', async () => {
  const outcome = await shop.tell(purchase('ghost', { customer: null, quantity: 2 }).sold())
  if (outcome.outcome !== 'issued') throw new Error('nothing was issued')
  const { licenseId } = outcome.license
  await shop.tell(purchase('parked', { customer: null, sold: { productId: 'missing' } }).sold())
  const needing = () => list('?needs=holder')
  const message = '2 were paid for, but the key type monthly is not sold in multiples. The license covers 2.'
  expect((await needing()).items).toMatchObject([
    {
      saleId: 'cs_ghost',
      licenseId,
      email: null,
      name: null,
      needsHolder: true,
      notices: [{ code: 'quantity_exceeded', message }],
    },
  ])
  const customerId = await makeCustomer(api.ask, shop.token)
  const body = { licenseId }
  const { token } = shop
  const linked = await api.ask('POST', `/v1/customers/${customerId}/link-license`, { token, body })
  expect(linked.status).toBe(200)
  expect((await needing()).items).toStrictEqual([])
  expect((await list('?status=licensed')).items).toContainEqual(
    expect.objectContaining({ saleId: 'cs_ghost', needsHolder: false }),
  )
  expect(await asks('GET', '/v1/sales?needs=nothing')).toMatchObject({ status: 400 })
})
