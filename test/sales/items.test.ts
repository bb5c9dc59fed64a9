/**
 * Guarantee: each mapped item of a purchase has one license, in its quantity, that follows the purchase and its own line;
 * what is not mapped is a notice, and gets its license once it is mapped.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findLicense } from '../../projections/licenses/queries.ts'
import { itemsOf } from '../../src/domain/sales/items.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { replaySale } from '../../src/sales/parked.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { origin } from '../harness/ledger.ts'
import { month, purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  shop = await openShop(api)
  const { token } = shop
  await api.ask('POST', '/v1/integrations/paddle/connect', { token, body: { webhookSecret: 'pdl_secret' } })
  await map({ pri_month: 'monthly', pri_team: 'forever' })
})

const map = (prices: Record<string, string>) =>
  api.ask('POST', '/v1/products/editor/integrations/paddle', { token: shop.token, body: { prices } })
const item = (providerProduct: string, quantity = 1, amount = 1000) => ({
  sold: { providerProduct },
  quantity,
  line: { lineId: `line_${providerProduct}`, amount },
})
const bought = purchase('ada', {
  provider: 'paddle',
  ...item('pri_month', 1, 900),
  more: [item('pri_team', 3, 4000)],
})

async function onlySale() {
  const [sale, ...others] = await shop.sales()
  if (!sale || others.length > 0) throw new Error('there is not exactly one sale')
  return sale
}

/** The licenses of the items that have one, in their order. */
async function licensesNow() {
  const licensed = itemsOf(await onlySale()).filter(({ licensedAt }) => licensedAt !== null)
  const { db } = api.ledger
  return Promise.all(
    licensed.map(async ({ licenseId }) => (await findLicense(db, shop.tenantId, licenseId))?.license),
  )
}
const shownSale = async () =>
  (await api.ask('GET', `/v1/sales/${(await onlySale()).id}`, { token: shop.token })).body

const unitsOf = (...items: [providerProduct: string, quantity: number][]) =>
  items.map(([providerProduct, quantity]) => ({ sold: { providerProduct }, quantity }))

const changed = (items: ReturnType<typeof unitsOf>, at = month.first): PaymentNotification => ({
  provider: 'paddle',
  test: false,
  at,
  notificationId: `evt_changed_${at}`,
  type: 'subscription',
  link: 'subscription:sub_ada',
  ...items[0],
  items,
})

test('each item is licensed once, and found by each of its licenses', async () => {
  expect(await shop.tell(bought.sold())).toMatchObject({
    outcome: 'issued',
    license: { keyTypeId: 'monthly' },
  })
  expect(await shop.tell(bought.sold())).toStrictEqual({ outcome: 'duplicate' })
  const licenses = await licensesNow()
  expect(licenses).toMatchObject([
    { keyTypeId: 'monthly', quantity: 1, deviceLimit: 1, expiresAt: month.first, saleId: 'cs_ada' },
    { keyTypeId: 'forever', quantity: 3, deviceLimit: 6, expiresAt: null, saleId: 'cs_ada' },
  ])
  const { id } = await onlySale()
  for (const license of licenses) {
    expect(await shop.saleOf(license?.licenseId ?? '')).toMatchObject({ id, sessionId: 'cs_ada' })
  }
  expect(await shownSale()).toMatchObject({
    sale: {
      licenseId: licenses[0]?.licenseId,
      licenses: [
        { licenseId: licenses[0]?.licenseId, productId: 'editor', keyTypeId: 'monthly', quantity: 1 },
        { licenseId: licenses[1]?.licenseId, productId: 'editor', keyTypeId: 'forever', quantity: 3 },
      ],
      notices: [],
    },
  })
})

test('the refund of a line revokes its license alone, and that of the rest the other', async () => {
  await shop.tell(bought.sold())
  const line = (id: string, amount: number): PaymentNotification => ({
    ...bought.refunded(`re_${id}`, amount),
    lines: [{ lineId: `line_${id}`, amount }],
  })
  await shop.tell(line('pri_team', 4000))
  expect(await licensesNow()).toMatchObject([{ revokedCause: null }, { revokedCause: 'refund' }])
  await shop.tell(line('pri_month', 900))
  expect(await licensesNow()).toMatchObject([{ revokedCause: 'refund' }, { revokedCause: 'refund' }])
  expect(await shownSale()).toMatchObject({ sale: { refunded: 'fully' } })
})

test('a dispute, a renewal and an end concern all licenses', async () => {
  await shop.tell(bought.sold())
  await shop.tell(bought.dispute('dispute_lost'))
  expect(await licensesNow()).toMatchObject([{ revokedCause: 'dispute' }, { revokedCause: 'dispute' }])
  await shop.tell(bought.dispute('dispute_won'))
  expect(await licensesNow()).toMatchObject([{ revokedAt: null }, { revokedAt: null }])
  await shop.tell(bought.renewed('in_1', month.second))
  expect(await licensesNow()).toMatchObject([{ expiresAt: month.second }, { expiresAt: null }])
  await shop.tell(bought.ended(month.second))
  expect(await licensesNow()).toMatchObject([{ expiresAt: month.second }, { expiresAt: month.second }])
})

test('each item follows its own quantity and plan, in any order of the notifications', async () => {
  const later = '2026-04-02T12:00:00.000Z'
  await shop.tell(changed(unitsOf(['pri_team', 5], ['pri_month', 2]), later))
  await shop.tell(bought.sold())
  await shop.tell(changed(unitsOf(['pri_month', 9], ['pri_team', 9])))
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'monthly', quantity: 2 },
    { keyTypeId: 'forever', quantity: 5, deviceLimit: 10 },
  ])
})

test('an item that is not mapped is a notice, until it is mapped and the sale replayed', async () => {
  const { ports } = api.ledger
  const own = { ...item('pri_support', 2, 100), more: [item('pri_month', 1, 900), item('pri_icons', 1, 50)] }
  await shop.tell(bought.sold(own))
  await shop.tell(bought.dispute('dispute_lost'))
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'monthly', revokedCause: 'dispute' }])
  expect(await shownSale()).toMatchObject({
    sale: {
      status: 'licensed',
      notices: [
        { code: 'item_not_mapped', message: expect.stringMatching(/^2 × pri_support/) as string },
        { code: 'item_not_mapped', message: expect.stringMatching(/^pri_icons/) as string },
      ],
    },
  })
  const { id } = await onlySale()
  const replay = () => replaySale(ports, shop.tenantId, id, origin)
  await expect(replay()).rejects.toMatchObject({ code: 'sale_still_parked' })
  await map({ pri_month: 'monthly', pri_support: 'forever' })
  await replay()
  expect(await licensesNow()).toMatchObject([
    { keyTypeId: 'monthly', revokedCause: 'dispute' },
    { keyTypeId: 'forever', quantity: 2, revokedCause: 'dispute' },
  ])
  await shop.tell(bought.dispute('dispute_won'))
  expect(await licensesNow()).toMatchObject([{ revokedAt: null }, { revokedAt: null }])
})

test('a sale none of whose items is mapped is parked, and the first that is mapped then is its first', async () => {
  await shop.tell(bought.sold({ ...item('pri_support'), more: [item('pri_icons')] }))
  expect(await onlySale()).toMatchObject({ status: 'parked', parked: { detail: 'pri_support' } })
  await map({ pri_icons: 'forever' })
  const sale = await replaySale(api.ledger.ports, shop.tenantId, (await onlySale()).id, origin)
  expect(sale).toMatchObject({ status: 'licensed', keyTypeId: 'forever', parked: null })
  expect(await licensesNow()).toMatchObject([{ keyTypeId: 'forever' }])
})
