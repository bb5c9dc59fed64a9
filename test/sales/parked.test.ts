/**
 * Guarantee: mapping a parked sale to a key type licenses it and all other parked sales of the same item, of the
 * same tenant and provider, and later sales of the item are licensed at once. The dashboard and the API do the same.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findIntegration } from '../../projections/integrations.ts'
import { newId } from '../../src/credentials/id.ts'
import { clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import { wordsOf } from '../dashboard/words.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  shop = await openShop(api)
})

const post = (url: string, body?: unknown) => api.ask('POST', url, { token: shop.token, body })
const soldItem = (name: string, providerProduct: string, provider: 'paddle' | 'stripe' = 'paddle') =>
  shop.tell(purchase(name, { provider, sold: { providerProduct } }).sold())
const idOf = async (saleId: string) => {
  const sale = (await shop.sales()).find((one) => one.saleId === saleId)
  if (!sale) throw new Error(`${saleId} is not there`)
  return sale.id
}
const statuses = async () =>
  Object.fromEntries(
    (await shop.sales()).map(({ saleId, status, keyTypeId }) => [saleId, [status, keyTypeId]]),
  )
const map = (id: string, keyTypeId = 'forever') =>
  post(`/v1/sales/${id}/map`, { productId: 'editor', keyTypeId })

test('a mapping licenses all parked sales of the same item, and later ones', async () => {
  await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
  for (const name of ['a', 'b']) await soldItem(name, 'pri_1')
  await soldItem('other', 'pri_2')
  await soldItem('elsewhere', 'pri_1', 'stripe')
  expect(await map(await idOf('cs_a'))).toMatchObject({ status: 200, body: { licensed: 2, stillParked: 0 } })
  await soldItem('later', 'pri_1')
  expect(await statuses()).toStrictEqual({
    cs_a: ['licensed', 'forever'],
    cs_b: ['licensed', 'forever'],
    cs_later: ['licensed', 'forever'],
    cs_other: ['parked', null],
    cs_elsewhere: ['parked', null],
  })
})

test('a payment link of Stripe is mapped; a session without one is licensed individually', async () => {
  const { ports } = api.ledger
  await connectAccount(ports, shop.tenantId, 'acct_1')
  await soldItem('link', 'plink_1', 'stripe')
  await soldItem('bare', 'cs_bare', 'stripe')
  await map(await idOf('cs_link'))
  expect(await map(await idOf('cs_bare'), 'monthly')).toMatchObject({ body: { licensed: 1, stillParked: 0 } })
  await soldItem('again', 'plink_1', 'stripe')
  expect(await statuses()).toStrictEqual({
    cs_link: ['licensed', 'forever'],
    cs_again: ['licensed', 'forever'],
    cs_bare: ['licensed', 'monthly'],
  })
  expect((await findIntegration(ports.db, shop.tenantId, 'stripe'))?.mappings).toStrictEqual([
    { productId: 'editor', mapping: { paymentLinks: { plink_1: 'forever' } } },
  ])
})

test('an invalid mapping is refused, and the sale stays parked', async () => {
  await soldItem('a', 'pri_1')
  const id = await idOf('cs_a')
  expect(await map(id)).toMatchObject({ status: 409 })
  await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
  expect(await map(id, 'nothing')).toMatchObject({ status: 422 })
  expect(await post(`/v1/sales/${id}/map`, { productId: 'nothing', keyTypeId: 'forever' })).toMatchObject({
    status: 404,
  })
  expect(await statuses()).toStrictEqual({ cs_a: ['parked', null] })
  // The sale is looked up before what is said of it.
  const absent = await post(`/v1/sales/${newId('sal')}/map`, { productId: 'nothing', keyTypeId: 'forever' })
  expect(absent).toMatchObject({ status: 404, body: { error: 'sale not found' } })
  await map(id)
  expect(await map(id)).toMatchObject({ status: 409 })
})

test('the page of a parked sale has the form, with the number of other sales it will license', async () => {
  await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
  for (const name of ['a', 'b', 'c']) await soldItem(name, 'pri_1')
  const path = `/dashboard/sales/${await idOf('cs_b')}`
  const developer = clientOf(api.app, '192.0.2.7')
  await developer.signIn(await makeMember(api.ledger, shop.tenantId, 'developer'))
  const auditor = clientOf(api.app, '192.0.2.8')
  await auditor.signIn(await makeMember(api.ledger, shop.tenantId, 'auditor'))
  expect((await auditor.get(path)).text).not.toContain(`${path}/map`)
  expect(wordsOf((await developer.get(path)).text)).toMatch(
    /Parked: .* This is .*Later sales of pri_1 at Paddle are licensed as this, too.* 2 other parked sales .* License 3 sales/,
  )
  await developer.post(`${path}/map`, { sold: '' })
  expect(wordsOf((await developer.get(path)).text)).toContain('Choose what was sold.')
  expect(await developer.post(`${path}/map`, { sold: 'editor/monthly' })).toMatchObject({
    status: 303,
    location: path,
  })
  expect(wordsOf((await developer.get(path)).text)).toMatch(
    /3 sales have their licenses\..* License licensed/,
  )
  expect(Object.values(await statuses())).toStrictEqual(Array(3).fill(['licensed', 'monthly']))
  await developer.post(`${path}/map`, { sold: 'editor/monthly' })
  expect(wordsOf((await developer.get(path)).text)).toContain('already has its license')
})
