/**
 * Guarantee: the figures by day are those of the recorded sales and licenses, for whole days in UTC, and of the token's
 * tenant only.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { openTestApi, type TestApi } from '../../harness/api.ts'
import { purchase } from '../../sales/notifications.ts'
import { openShop, type Shop } from '../../sales/shop.ts'

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
  api.ledger.clock.set('2026-03-03T10:00:00.000Z')
  shop = await openShop(api)
  const first = purchase('first')
  await shop.tell(first.sold())
  await shop.tell(first.refunded('re_1', 1000))
  await shop.tell(purchase('second').sold({ currency: 'jpy', amount: 500, provider: 'paddle' }))
  await shop.tell(
    purchase('unmapped').sold({ at: '2026-03-02T23:59:59.000Z', sold: { productId: 'unknown' } }),
  )
})
afterAll(() => api.close())

const read = (query: string, token = shop.token) => api.ask('GET', `/v1/insights${query}`, { token })

test('sales are grouped by day, provider, product and currency, in minor units', async () => {
  const { status, body } = await read('?from=2026-03-01T05:00:00Z&to=2026-03-02T00:00:01Z')
  expect(status).toBe(200)
  const first = '2026-03-01T00:00:00.000Z'
  const second = '2026-03-02T00:00:00.000Z'
  const one = { sales: 1, payments: 1, returned: 0 }
  expect(body).toMatchObject({
    from: first,
    to: '2026-03-03T00:00:00.000Z',
    sales: [
      { ...one, day: first, provider: 'paddle', productId: 'editor', currency: 'jpy', paid: 500 },
      {
        ...one,
        day: first,
        provider: 'stripe',
        productId: 'editor',
        currency: 'usd',
        paid: 4900,
        returned: 1000,
      },
      { ...one, day: second, provider: 'stripe', productId: null, currency: 'usd', paid: 4900 },
    ],
    trials: [
      { day: first, started: 0, licensed: 0 },
      { day: second, started: 0, licensed: 0 },
    ],
    versions: [],
  })
})

test('the default range is the last 30 days, with one row per day', async () => {
  const { licenses, activeLicenses } = z
    .object({
      licenses: z.array(z.object({ day: z.string(), issued: z.int() })),
      activeLicenses: z.unknown(),
    })
    .parse((await read('')).body)
  expect([licenses.length, licenses[0]?.day]).toStrictEqual([30, '2026-02-02T00:00:00.000Z'])
  expect(licenses.at(-1)).toMatchObject({ day: '2026-03-03T00:00:00.000Z', issued: 2 })
  expect(activeLicenses).toMatchObject([{ productId: 'editor', active: 2 }])
})

test.each([
  ['?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 'from must lie before to, and not ahead of now'],
  [
    '?from=2020-01-01T00:00:00Z',
    'the range has more than 400 points; choose a shorter range or a coarser granularity',
  ],
  ['?to=0001-01-01T00:00:00Z', 'from must not lie before 1970'],
])('%s returns 422', async (query, error) => {
  expect(await read(query)).toMatchObject({ status: 422, body: { error } })
})

test("the figures do not include another tenant's sales", async () => {
  const other = await openShop(api)
  expect((await read('?from=2026-03-01T00:00:00Z', other.token)).body).toMatchObject({ sales: [] })
})
