/**
 * Guarantee: what is bought once starts with its first activation where its key type says so. A subscription keeps the end of
 * its paid period, also when it turns out to be one only after the sale.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { commandLicense } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'
import { month, purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

let api: TestApi
let shop: Shop
const year = { count: 1, unit: 'year' } as const
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  shop = await openShop(api)
  await makeProduct(api.ask, shop.token, 'later', {
    keyTypes: [{ name: 'Year', duration: year, startsAt: 'first_activation' }],
  })
})

const once = (name: string, own: object = {}) =>
  purchase(name, { sold: { productId: 'later' }, links: [`payment:pi_${name}`], ...own })

async function licenseNow() {
  const [sale] = await shop.sales()
  if (!sale) throw new Error('there is no sale')
  return shop.licenseOf(sale)
}
async function activate(): Promise<string> {
  const { licenseId } = await licenseNow()
  const at = api.ledger.ports.now().toISOString()
  const device = { deviceId: 'mac', instanceId: 'ins_mac', installId: null, name: 'Mac', platform: null }
  await commandLicense(api.ledger, licenseId, { type: 'ActivateDevice', ...device, at })
  const { expiresAt } = await licenseNow()
  return expiresAt ?? 'never'
}
const told = (name: string, paidUntil: string): PaymentNotification => ({
  provider: 'stripe',
  notificationId: `evt_${name}_told`,
  test: false,
  at: '2026-03-01T12:00:00.000Z',
  type: 'payment named',
  link: `payment:pi_${name}`,
  names: [`payment:pi_${name}`, `invoice:${name}_1`],
  isFirst: true,
  paidUntil,
})

test.each([false, true])(
  'what is bought once waits for the first activation, as a test: %s',
  async (isTest) => {
    if (isTest) await api.ask('POST', '/v1/products/later/test-mode', { token: shop.token, body: {} })
    await shop.tell(once('ada', { test: isTest }).sold())
    expect(await licenseNow()).toMatchObject({ expiresAt: null, startsWith: year, test: isTest })
    expect(await shop.sales()).toMatchObject([{ firstExpiresAt: null, waits: true }])
    api.ledger.clock.advance(20 * 86_400_000)
    const expected = new Date(api.ledger.ports.now().getTime())
    expected.setUTCMilliseconds(0)
    expected.setUTCFullYear(expected.getUTCFullYear() + 1)
    expect(await activate()).toBe(expected.toISOString())
  },
)

test('a partial refund changes nothing of a term that waits, or has started', async () => {
  const bought = once('bob')
  await shop.tell(bought.sold())
  await shop.tell(bought.refunded('re_1', 100))
  expect(await licenseNow()).toMatchObject({ expiresAt: null, startsWith: year })
  const expiresAt = await activate()
  await shop.tell(bought.refunded('re_2', 100))
  expect(await licenseNow()).toMatchObject({ expiresAt, startsWith: null })
  await shop.tell(bought.refunded('re_3', 4900))
  expect(await licenseNow()).toMatchObject({ expiresAt, revokedCause: 'refund' })
})

test('a subscription with a paid period has the end of it, or of its key type, from the sale on', async () => {
  const paidUntil = '2028-01-01T00:00:00.000Z'
  await shop.tell(once('eve', { links: ['payment:pi_eve', 'subscription:sub_eve'], paidUntil }).sold())
  expect(await licenseNow()).toMatchObject({ expiresAt: paidUntil, startsWith: null })
  expect(await shop.sales()).not.toMatchObject([{ waits: true }])
  expect(await activate()).toBe(paidUntil)
})

test('a subscription that becomes known after the sale has its paid period, with or without an activation', async () => {
  await shop.tell(once('joe').sold())
  await shop.tell(told('joe', month.second))
  expect(await licenseNow()).toMatchObject({ expiresAt: month.second, startsWith: null })
  expect(await activate()).toBe(month.second)
})

test('a term that has started is extended by periods that are paid longer, and not shortened by the first', async () => {
  await shop.tell(once('kim').sold())
  const expiresAt = await activate()
  await shop.tell(told('kim', month.second))
  expect(await licenseNow()).toMatchObject({ expiresAt })
})
