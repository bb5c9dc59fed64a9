/**
 * Guarantee: what a sale of credits adds is added once to the meter of one license, wherever a process is killed and however often the
 * provider repeats itself; what is left is taken back with the money, and the sale says what was spent.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { namedLicense } from '../../src/payments/named-license.ts'
import { resumeSales } from '../../src/reactions/sales.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { beginning } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { Killed, mortal } from './mortal.ts'
import { purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

let api: TestApi
let shop: Shop
const minutes = { meter: 'minutes', unit: 'minutes', included: '0', period: 'license', overage: 'block' }
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  api.ledger.clock.set(beginning)
  shop = await openShop(api)
  await makeProduct(api.ask, shop.token, 'renderer', {
    keyTypes: [{ name: 'Pro', meters: [minutes] }, { name: 'None' }],
  })
  await post('/v1/integrations/paddle/connect', { webhookSecret: 'pdl_1' })
  expect(await packs([{ id: 'pri_pack', meter: 'minutes', amount: '500', days: 365 }])).toMatchObject({
    status: 200,
  })
})

const post = (url: string, body: object) => api.ask('POST', url, { token: shop.token, body })
const get = (url: string) => api.ask('GET', url, { token: shop.token })
const packs = (list: object[]) =>
  post('/v1/products/renderer/integrations/paddle/credit-packs', { packs: list })
const customerEmail = 'ada@example.com'
const make = (keyTypeId = 'pro', email = customerEmail) =>
  mint(api.ask, shop.token, 'renderer', { keyTypeId, email })
const bought = (name: string, more: object = {}) =>
  purchase(name, {
    ...{ provider: 'paddle', sold: { providerProduct: 'pri_pack' } },
    customer: { email: customerEmail },
    ...more,
  })
const Meters = z.object({ meters: z.array(z.looseObject({ credits: z.array(z.looseObject({})) })) })
const creditsOf = async (path: string) =>
  Meters.parse((await get(`/v1/${path}/meters`)).body).meters.flatMap(({ credits }) => credits)
const Lines = z.object({ items: z.array(z.looseObject({ kind: z.string() })) })
const linesOf = async (path: string) =>
  Lines.parse((await get(`/v1/${path}/meters/minutes/uses?order=oldest&limit=100`)).body).items
const Sales = z.object({ items: z.array(z.looseObject({ id: z.string(), saleId: z.string() })) })
const saleOf = async (name: string) => {
  const { items } = Sales.parse((await get('/v1/sales?limit=100')).body)
  return items.find(({ saleId }) => saleId === `cs_${name}`)
}
const consume = (licenseKey: string, amount: string, idempotency_key: string) =>
  post('/v1/licenses/consume', {
    ...{ product_id: 'renderer', license_key: licenseKey, meter: 'minutes', amount, idempotency_key },
  })

describe('a bought pack', () => {
  test('adds its amount times its quantity to the newest license of the buyer, once', async () => {
    await make('none')
    const { id } = await make()
    await make('none')
    await make('pro', 'another@example.com')
    const { sold } = bought('a', { quantity: 3, orderNumber: '1001' })
    for (const _ of ['once', 'again']) await shop.tell(sold())
    const [credit] = await creditsOf(`licenses/${id}`)
    expect(credit).toMatchObject({ left: '1500' })
    expect(await linesOf(`licenses/${id}`)).toMatchObject([{ kind: 'credit', amount: '1500', note: '1001' }])
    expect(await saleOf('a')).toMatchObject({
      ...{ status: 'licensed', productId: 'renderer', keyTypeId: null, licenseId: null, licenses: [] },
      credits: [
        { ...{ creditId: credit?.creditId, licenseId: id, customerId: null }, amount: '1500', spent: null },
      ],
    })
    expect(credit?.endsAt).toBe(new Date(Date.parse(beginning) + 365 * 86_400_000).toISOString())
  })

  test('adds to the license that the checkout names, also of another person', async () => {
    await make()
    const other = await make('pro', 'another@example.com')
    await shop.tell(bought('a', { licenseId: other.id }).sold())
    expect(await creditsOf(`licenses/${other.id}`)).toMatchObject([{ left: '500' }])
    expect(namedLicense({ license_id: other.id })).toStrictEqual({ licenseId: other.id })
    for (const custom of [{ license_id: 'cus_1' }, { license_id: 7 }, null, 'text'])
      expect(namedLicense(custom)).toStrictEqual({})
  })

  test('adds to what the license shares with the others of its customer', async () => {
    const { id } = await make()
    const created = await post('/v1/customers', { email: customerEmail, meters: [minutes] })
    const { customer } = z.object({ customer: z.object({ id: z.string() }) }).parse(created.body)
    await post(`/v1/customers/${customer.id}/link-license`, { licenseId: id })
    await shop.tell(bought('a').sold())
    expect(await creditsOf(`customers/${customer.id}`)).toMatchObject([{ left: '500' }])
    expect(await saleOf('a')).toMatchObject({ credits: [{ licenseId: id, customerId: customer.id }] })
    expect(await linesOf(`licenses/${id}`)).toStrictEqual([])
  })

  test('is bought with a license at once, each as it is mapped', async () => {
    const { id } = await make()
    const more = [{ sold: { productId: 'editor', keyTypeId: 'forever' }, quantity: 1 }]
    await shop.tell(bought('a', { more }).sold())
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '500' }])
    expect(await saleOf('a')).toMatchObject({
      ...{ status: 'licensed', licenses: [{ keyTypeId: 'forever' }], credits: [{ licenseId: id }] },
    })
  })

  test('is parked without a license that can have it, and added by a replay', async () => {
    const { sold } = bought('a')
    expect(await shop.tell(sold())).toMatchObject({ outcome: 'parked', reason: 'no_license_for_credit' })
    const sale = await saleOf('a')
    expect(await post(`/v1/sales/${sale?.id}/replay`, {})).toMatchObject({ status: 409 })
    const { id } = await make()
    const rehearsed = await post(`/v1/sales/${sale?.id}/replay?dryRun=true`, {})
    expect(rehearsed).toMatchObject({ status: 200, body: { dryRun: true, wouldBeRefused: null } })
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    expect(await post(`/v1/sales/${sale?.id}/replay`, {})).toMatchObject({
      status: 200,
      body: { sale: { status: 'licensed', credits: [{ licenseId: id, amount: '500' }] } },
    })
    await shop.tell(sold())
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '500' }])
  })

  test('that no one paid for adds only to a license that no one paid for, and a paid one to none of them', async () => {
    await post('/v1/products/renderer/test-mode', {})
    const { id } = await make()
    await shop.tell(bought('free', { test: true }).sold())
    expect(await saleOf('free')).toMatchObject({
      status: 'parked',
      parked: { reason: 'no_license_for_credit' },
    })
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    const sold = { productId: 'renderer', keyTypeId: 'pro' }
    await shop.tell(bought('trial', { sold, test: true }).sold())
    const { licenseId } = z.object({ licenseId: z.string() }).parse(await saleOf('trial'))
    await shop.tell(bought('free', { test: true }).sold())
    expect(await creditsOf(`licenses/${licenseId}`)).toMatchObject([{ left: '500' }])
    await shop.tell(bought('paid', { licenseId }).sold())
    expect(await saleOf('paid')).toMatchObject({ status: 'parked' })
  })

  test('of a license that is named and not active, or lacks the meter, is parked', async () => {
    const none = await make('none')
    await make()
    await shop.tell(bought('a', { licenseId: none.id }).sold())
    expect(await saleOf('a')).toMatchObject({
      ...{ status: 'parked', parked: { reason: 'no_license_for_credit' } },
    })
  })
})

describe('money that goes back', () => {
  test('takes what is left with it, and the sale says what was spent', async () => {
    const { id, licenseKey } = await make()
    const { sold, refunded } = bought('a')
    await shop.tell(sold())
    expect(await consume(licenseKey, '123.5', 'x')).toMatchObject({ body: { remaining: '376.5' } })
    await shop.tell(refunded('re_1', 100))
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '376.5' }])
    for (const _ of ['once', 'again']) await shop.tell(refunded('re_2', 4900))
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    expect(await saleOf('a')).toMatchObject({
      ...{ refunded: 'fully', credits: [{ amount: '500', withdrawn: '376.5', spent: '123.5' }] },
    })
    expect(await linesOf(`licenses/${id}`)).toMatchObject([
      { kind: 'credit', amount: '500' },
      { kind: 'use', amount: '123.5' },
      { kind: 'withdrawal', amount: '376.5' },
    ])
  })

  test('takes all of a credit whose refund arrives first', async () => {
    const { id } = await make()
    const { sold, refunded } = bought('a')
    await shop.tell(refunded('re_1', 4900))
    await shop.tell(sold())
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    expect(await saleOf('a')).toMatchObject({ credits: [{ withdrawn: '500', spent: '0' }] })
  })

  test('takes it with a dispute that is lost, and returns it with one that is won after all', async () => {
    const { id, licenseKey } = await make()
    const { sold, dispute } = bought('a')
    await shop.tell(sold())
    await consume(licenseKey, '100', 'x')
    await shop.tell(dispute('disputed'))
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '400' }])
    await shop.tell(dispute('dispute_lost'))
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    for (const _ of ['once', 'again']) await shop.tell(dispute('dispute_won'))
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '400' }])
    expect(await saleOf('a')).toMatchObject({ credits: [{ amount: '400', withdrawn: null, spent: null }] })
  })
})

const onFailure = ({ error }: { error: unknown }) => {
  throw error
}

test('a sale and its refund, killed at any write, add and take back the credit once', async () => {
  const { id, licenseKey } = await make()
  let deaths = 0
  let used = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const { sold, refunded } = bought(`k${dieAt}`)
    const tell = async (notification: ReturnType<typeof sold> | ReturnType<typeof refunded>) => {
      try {
        await shop.tell(notification, mortal(api.ledger, dieAt))
      } catch (error) {
        if (!(error instanceof Killed)) throw error
        died = true
        deaths++
        // Another process goes on with it, and the provider sends it again.
        api.ledger.clock.advance(11_000)
        await api.ledger.readModels.catchUp()
        await resumeSales(api.ledger.ports, { onFailure }).poll()
        await shop.tell(notification)
      }
    }
    died = false
    await tell(sold())
    expect(await creditsOf(`licenses/${id}`)).toMatchObject([{ left: '500' }])
    used++
    await consume(licenseKey, '1', `use ${used}`)
    await tell(refunded('re_1', 4900))
    expect(await creditsOf(`licenses/${id}`)).toStrictEqual([])
    expect(await saleOf(`k${dieAt}`)).toMatchObject({
      ...{
        status: 'licensed',
        refunded: 'fully',
        credits: [{ amount: '500', withdrawn: '499', spent: '1' }],
      },
    })
  }
  // The notification, the intent, the credit, the links and the record; then the fact, the withdrawal and its record.
  expect(deaths).toBeGreaterThan(12)
  const kinds = (await linesOf(`licenses/${id}`)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'credit')).toHaveLength(used)
  expect(kinds.filter((kind) => kind === 'withdrawal')).toHaveLength(used)
})

describe('the mapping', () => {
  const pack = { id: 'pri_pack', meter: 'minutes', amount: '500', days: null }

  test('is shown with the provider, and replaced as a whole', async () => {
    const replaced = await packs([{ ...pack, id: 'pri_2' }])
    expect(replaced.body).toMatchObject({
      integration: {
        products: [{ productId: 'renderer', mapping: {}, creditPacks: [{ ...pack, id: 'pri_2' }] }],
      },
    })
    expect((await packs([])).body).toMatchObject({ integration: { products: [] } })
  })

  test.each([
    ['an id twice', [pack, pack], 400],
    ['nothing', [{ ...pack, amount: '0' }], 400],
    ['too much', [{ ...pack, amount: '10000000000' }], 400],
    ['no day', [{ ...pack, days: 0 }], 400],
  ])('of %s is refused', async (_, list, status) => {
    expect(await packs(list)).toMatchObject({ status })
  })

  test('takes no id that stands for a key type, and a key type takes none of a pack', async () => {
    const products = (prices: object) => post('/v1/products/renderer/integrations/paddle', { prices })
    expect(await products({ pri_pack: 'pro' })).toMatchObject({ status: 409 })
    expect(await products({ pri_1: 'pro' })).toMatchObject({ status: 200 })
    expect(await packs([{ ...pack, id: 'pri_1' }])).toMatchObject({ status: 409 })
  })

  test('of a parked sale to a key type is refused: another license would not get what was paid for', async () => {
    await shop.tell(bought('a').sold())
    const sale = await saleOf('a')
    const mapped = await post(`/v1/sales/${sale?.id}/map`, { productId: 'renderer', keyTypeId: 'pro' })
    expect(mapped).toMatchObject({ status: 409 })
  })
})
