/**
 * Guarantee: each payment of a sale pays for a period: a refund takes back its own, by any of its ids, and the
 * license is revoked only when no payment is left. A change of the subscription changes the license.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteKeyType } from '../../src/commands/products.ts'
import { statusAt } from '../../src/domain/licenses/status.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import type { AllPorts } from '../../src/ports.ts'
import { replaySale } from '../../src/sales/parked.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { beginning, eventsIn, origin } from '../harness/ledger.ts'
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
})

async function onlySale() {
  const [sale, ...others] = await shop.sales()
  if (!sale || others.length > 0) throw new Error('there is not exactly one sale')
  return sale
}
const licenseNow = async () => shop.licenseOf(await onlySale())
const eventsNow = async () => {
  const { licenseId } = await onlySale()
  const entries = await eventsIn(api.ledger.ports.ledger, licenseStream(licenseId))
  return entries.map((entry) => (entry.readable ? entry.event : undefined))
}

/** A subscription as stripe's checkout sells it: it names its invoice, and not its payment. */
const bought = purchase('ada', { links: ['subscription:sub_ada', 'invoice:in_ada'] })
const about = { provider: 'stripe', test: false, at: month.first } as const

/** @param seconds orders what is told, as the provider's own clock does */
const changed = (
  seconds: number,
  own: Partial<Extract<PaymentNotification, { type: 'subscription' }>>,
): PaymentNotification => ({
  ...about,
  provider: 'paddle',
  at: new Date(Date.parse(month.first) + seconds * 1000).toISOString(),
  notificationId: `evt_change_${seconds}`,
  type: 'subscription',
  link: 'subscription:sub_ada',
  ...own,
})
const named = (own: object = {}): PaymentNotification => ({
  ...about,
  notificationId: 'evt_named',
  type: 'payment named',
  link: 'invoice:in_ada',
  names: ['invoice:in_ada', 'payment:pi_ada'],
  isFirst: false,
  ...own,
})

describe('the first payment of a subscription', () => {
  const { sold, refunded, dispute } = bought
  const ways: [string, PaymentNotification[]][] = [
    ['refunded', [sold(), named(), refunded('re_1')]],
    ['lost in a dispute', [sold(), named(), dispute('dispute_lost')]],
    ['refunded before anything names it', [refunded('re_1'), sold(), named()]],
    ['refunded and named before the sale', [named(), refunded('re_1'), sold()]],
    ['refunded in parts', [sold(), named(), refunded('re_1', 4000), refunded('re_2', 900)]],
  ]

  test.each(ways)('%s revokes the license', async (_, told) => {
    for (const one of told) await shop.tell(one)
    expect(await licenseNow()).toMatchObject({ revokedAt: beginning, refundedPayments: ['first'] })
  })

  test('is not a renewal when it is notified again with the end of its period', async () => {
    await shop.tell(sold())
    const link = 'subscription:sub_ada'
    await shop.tell(named({ link, names: ['invoice:in_ada'], isFirst: true, paidUntil: month.third }))
    expect(await licenseNow()).toMatchObject({ expiresAt: month.third })
    // It is no renewal: nothing was paid anew.
    expect((await eventsNow()).map((event) => event?.type)).toStrictEqual([
      'LicenseMinted',
      'LicenseTermsChanged',
      'SaleFollowed',
    ])
  })
})

describe('a refund of a renewal', () => {
  test('takes back its own period only and records the refund', async () => {
    const { sold, renewed, refunded } = bought
    await shop.tell(sold())
    await shop.tell(renewed('in_1', month.second))
    await shop.tell(renewed('in_2', month.third))
    await shop.tell(refunded('re_1', 1000, 'in_2'))
    await shop.tell(refunded('re_2', 3900, 'in_2'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, refundedAt: null, expiresAt: month.second })
    expect(await eventsNow()).toContainEqual({
      type: 'LicenseRefunded',
      data: {
        saleId: 'cs_ada',
        payment: 'in_2',
        cause: 'refund',
        amount: 3900,
        totalRefunded: 4900,
        currency: 'usd',
        paidLeft: true,
        at: beginning,
      },
    })
    await shop.tell(refunded('re_3', 4900, 'in_1'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, expiresAt: month.first })
  })

  test('keeps its period when the product keeps refunded licenses', async () => {
    const body = { onRefund: 'keep' }
    await api.ask('PATCH', '/v1/products/editor', { token: shop.token, body })
    await shop.tell(bought.sold())
    await shop.tell(bought.renewed('in_1', month.second))
    await shop.tell(bought.refunded('re_1', 4900, 'in_1'))
    expect(await licenseNow()).toMatchObject({ refundedPayments: ['in_1'], expiresAt: month.second })
  })
})

describe('a change of a subscription', () => {
  const forever = { sold: { providerProduct: 'pri_forever' } }
  const { sold, renewed } = purchase('ada', { provider: 'paddle' })
  const mapped = async (prices: Record<string, string>) => {
    const url = '/v1/products/editor/integrations/paddle'
    const { status } = await api.ask('POST', url, { token: shop.token, body: { prices } })
    expect(status).toBe(200)
  }
  beforeEach(async () => {
    const body = { webhookSecret: 'pdl_ntfset_01hv8x29kz0t586xy6zn1a62ny' }
    await api.ask('POST', '/v1/integrations/paddle/connect', { token: shop.token, body })
    await mapped({ pri_forever: 'forever' })
    await shop.tell(sold())
  })

  test('to another plan gives the license the terms of that plan and keeps its expiry', async () => {
    await shop.tell(changed(1, { ...forever, quantity: 3 }))
    expect(await licenseNow()).toMatchObject({
      keyTypeId: 'forever',
      quantity: 3,
      deviceLimit: 6,
      expiresAt: month.first,
    })
    expect((await onlySale()).unmappedPlan).toBeNull()
  })

  test('to a key type that was just deleted keeps the key type, and the sale shows a notice', async () => {
    const { ports } = api.ledger
    const unseen: AllPorts = {
      ...ports,
      execute: (decider, id, command, cause, options) =>
        ports.execute(decider, id, command, cause, { ...options, waits: false }),
    }
    const deleted = { tenantId: shop.tenantId, productId: 'editor', keyTypeId: 'forever' }
    await deleteKeyType(unseen, deleted, origin)
    await shop.tell(changed(1, { ...forever, quantity: 3 }))
    expect(await licenseNow()).toMatchObject({ keyTypeId: 'monthly', quantity: 3 })
    expect((await onlySale()).unmappedPlan).toBe('pri_forever')
  })

  test('is applied by the time of the provider, in any order of arrival', async () => {
    await shop.tell(changed(3, { quantity: 5 }))
    await shop.tell(changed(2, { ...forever, quantity: 3 }))
    await shop.tell(changed(1, { quantity: 9 }))
    expect(await licenseNow()).toMatchObject({ keyTypeId: 'forever', quantity: 5, deviceLimit: 10 })
  })

  test('to fewer seats than are in use keeps the devices', async () => {
    await shop.tell(changed(1, { ...forever, quantity: 1 }))
    const { licenseId } = await onlySale()
    const key = await api.ledger.ports.secrets.open(shop.tenantId, `sale-key.${licenseId}`)
    const activate = (device_id: string) =>
      api.ask('POST', '/v1/licenses/activate', {
        token: shop.token,
        body: { product_id: 'editor', license_key: key, device_id },
      })
    await activate('laptop')
    await activate('desktop')
    await shop.tell(changed(2, { sold: { providerProduct: 'pri_unknown' }, quantity: 1 }))
    await shop.tell(changed(3, { quantity: 1, ...forever }))
    expect(await licenseNow()).toMatchObject({ deviceLimit: 2, seatsUsed: 2 })
    expect((await activate('phone')).body).toMatchObject({ activated: false, status: 'seat_limit_reached' })
    expect((await activate('laptop')).body).toMatchObject({ activated: true })
  })

  test('to an unmapped plan keeps the key type, and the sale shows a notice until it is replayed', async () => {
    await shop.tell(changed(1, { sold: { providerProduct: 'pri_team' }, quantity: 4 }))
    expect(await licenseNow()).toMatchObject({ keyTypeId: 'monthly', quantity: 4 })
    const sale = await onlySale()
    const read = () => api.ask('GET', `/v1/sales/${sale.id}`, { token: shop.token })
    expect((await read()).body).toMatchObject({ sale: { notices: [{ code: 'plan_not_mapped' }] } })
    const { ports } = api.ledger
    const replay = () => replaySale(ports, shop.tenantId, sale.id, origin)
    await expect(replay()).rejects.toMatchObject({ code: 'sale_still_parked' })
    await mapped({ pri_team: 'forever' })
    expect(await replay()).toMatchObject({ unmappedPlan: null })
    expect(await licenseNow()).toMatchObject({ keyTypeId: 'forever', quantity: 4, deviceLimit: 8 })
    await expect(replay()).rejects.toMatchObject({ code: 'sale_not_parked' })
  })

  test('to paused keeps the license until the end of the paid period; a renewal extends it again', async () => {
    await shop.tell(changed(1, { ...forever, paused: true }))
    expect(await licenseNow()).toMatchObject({ expiresAt: month.first, revokedAt: null })
    await shop.tell(changed(2, { paused: false }))
    await shop.tell(renewed('in_1', month.second))
    const license = await licenseNow()
    expect(statusAt(license, month.first)).toBe('active')
    expect(license.expiresAt).toBe(month.second)
  })
})
