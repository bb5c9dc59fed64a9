/**
 * Guarantee: a refund or dispute whose sale is not known is listed, for every provider, until its sale arrives.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { Provider } from '../../src/domain/integrations/provider.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
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

const Page = z.object({
  items: z.array(z.looseObject({ kind: z.string() })),
  nextCursor: z.string().nullable(),
})
const unmatched = async (query = '', token = shop.token) =>
  Page.parse((await api.ask('GET', `/v1/sales/unmatched${query}`, { token })).body)

test.each(Provider.options)('of %s: listed until the sale arrives', async (provider) => {
  const { sold, refunded, renewed, dispute } = purchase('ada', { provider })
  await shop.tell(refunded('re_1', 1000))
  await shop.tell(dispute('dispute_lost'))
  await shop.tell(renewed('in_1', '2026-05-01T12:00:00.000Z'))
  const { items } = await unmatched()
  expect(items.map(({ kind }) => kind).sort()).toStrictEqual(['dispute_lost', 'refund'])
  expect(items).toContainEqual(
    expect.objectContaining({
      provider,
      names: 'payment:pi_ada',
      amount: 1000,
      currency: 'usd',
      full: false,
    }),
  )
  expect((await unmatched('', (await makeTenant(api.ledger)).token)).items).toStrictEqual([])
  await shop.tell(sold())
  expect((await unmatched()).items).toStrictEqual([])
  await shop.tell(refunded('re_2'))
  expect((await unmatched()).items).toStrictEqual([])
})

test('also those of a parked sale are matched, and the list has pages', async () => {
  const [ada, eve] = [purchase('ada', { sold: { productId: 'unknown' } }), purchase('eve')]
  await shop.tell(ada.refunded('re_1'))
  await shop.tell(eve.refunded('re_1'))
  const first = await unmatched('?limit=1')
  const second = await unmatched(`?limit=1&cursor=${first.nextCursor ?? ''}`)
  expect([...first.items, ...second.items].map(({ notificationId }) => notificationId).sort()).toStrictEqual([
    'evt_ada_re_1',
    'evt_eve_re_1',
  ])
  expect(second.nextCursor).toBeNull()
  expect(await shop.tell(ada.sold())).toMatchObject({ outcome: 'parked' })
  expect((await unmatched()).items).toMatchObject([{ notificationId: 'evt_eve_re_1' }])
})
