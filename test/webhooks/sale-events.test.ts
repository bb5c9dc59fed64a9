/** Guarantee: the webhook events about a sale's payments and the changes of its subscription. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { month, purchase } from '../sales/notifications.ts'
import { openShop, type Shop } from '../sales/shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  shop = await openShop(api)
})

const Feed = z.object({ items: z.array(z.looseObject({ event: z.string() })) })
/** Without the announcement of the license. */
const events = async () => {
  const { body } = await api.ask('GET', '/v1/events', { token: shop.token })
  return Feed.parse(body).items.filter(({ event }) => event !== 'license.created')
}
const seconds = (moment: string) => Date.parse(moment) / 1000

const { sold, renewed, refunded, dispute, ended } = purchase('ada')

describe('returned payments', () => {
  test('send an event per full refund with its amount and the total, and a revocation when no payment is left', async () => {
    await shop.tell(sold())
    await shop.tell(renewed('in_1', month.second))
    await shop.tell(refunded('re_1', 900, 'in_1'))
    await shop.tell(refunded('re_2', 4000, 'in_1'))
    await shop.tell(refunded('re_3', 4900))
    const [renewal, first, moved, second, revoked, ...others] = await events()
    expect(renewal).toMatchObject({ event: 'license.renewed', expires_at: seconds(month.second) })
    expect(first).toMatchObject({
      event: 'license.refunded',
      amount: 4000,
      total_refunded: 4900,
      currency: 'usd',
    })
    expect(moved).toMatchObject({
      event: 'license.updated',
      expires_at: seconds(month.first),
      quantity: 1,
      device_limit: 1,
    })
    expect(second).toMatchObject({
      event: 'license.refunded',
      sale_id: 'cs_ada',
      amount: 4900,
      total_refunded: 9800,
    })
    expect(revoked).toMatchObject({ event: 'license.revoked' })
    // The expiry of a revoked license ignores refunds, and does not count as a renewal.
    expect(others).toMatchObject([{ event: 'license.updated', expires_at: seconds(month.second) }])
  })

  test('send license.reinstated for a won dispute', async () => {
    await shop.tell(sold())
    await shop.tell(dispute('dispute_lost'))
    await shop.tell(dispute('dispute_won'))
    expect(await events()).toMatchObject([
      { event: 'license.refunded', amount: 4900, total_refunded: 4900 },
      { event: 'license.revoked' },
      { event: 'license.reinstated', sale_id: 'cs_ada' },
    ])
  })

  test('send no event for a partial refund or an open dispute', async () => {
    await shop.tell(sold())
    await shop.tell(refunded('re_1', 1000))
    await shop.tell(dispute('disputed'))
    expect(await events()).toStrictEqual([])
  })
})

test('the end of a subscription sends license.updated with the expiry', async () => {
  await shop.tell(sold({ sold: { productId: 'editor', keyTypeId: 'forever' }, quantity: 3 }))
  await shop.tell(ended(month.second))
  expect(await events()).toMatchObject([
    { event: 'license.updated', quantity: 3, device_limit: 6, expires_at: seconds(month.second) },
  ])
})

test('a change of a subscription sends the current key type and quantity', async () => {
  await shop.tell(sold())
  const change = { provider: 'stripe', notificationId: 'evt_1', test: false, at: month.first } as const
  const subscription = { ...change, type: 'subscription', link: 'subscription:sub_ada' } as const
  await shop.tell({ ...subscription, quantity: 4 })
  await shop.tell(renewed('in_1', month.second))
  expect(await events()).toMatchObject([
    { event: 'license.updated', key_type_id: 'monthly', quantity: 4, device_limit: 4 },
    { event: 'license.renewed', key_type_id: 'monthly' },
  ])
})

test('only the events of a test license are marked as a test', async () => {
  await api.ask('POST', '/v1/products/editor/test-mode', {
    token: shop.token,
    body: { publishableKey: 'pk_test_1', secretKey: 'sk_test_1' },
  })
  const tested = purchase('tested', { test: true })
  for (const one of [tested.sold(), tested.renewed('in_1', month.second), tested.dispute('dispute_lost')]) {
    await shop.tell(one)
  }
  const all = Feed.parse((await api.ask('GET', '/v1/events', { token: shop.token })).body).items
  expect(all.map(({ event, test: isTest }) => ({ event, isTest }))).toStrictEqual(
    ['license.created', 'license.renewed', 'license.refunded'].map((event) => ({
      event,
      isTest: true,
    })),
  )
  await shop.tell(sold())
  const { items } = Feed.parse((await api.ask('GET', '/v1/events', { token: shop.token })).body)
  expect(items.at(-1)).toMatchObject({ event: 'license.created', test: false })
})
