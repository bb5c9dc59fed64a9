/**
 * Guarantee: every paid sale has exactly one license, no matter how often it is notified; the license follows later
 * notifications, and a sale that cannot be licensed yet is parked.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeSale } from '../../src/commands/sales.ts'
import { closeTenant, reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { startTestPurchase } from '../../src/commands/test-purchases.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import { statusAt } from '../../src/domain/licenses/status.ts'
import { licenseStream, linkStream, saleStream } from '../../src/domain/streams.ts'
import { replaySale } from '../../src/sales/parked.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { beginning, eventsIn, origin } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'
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

const typesIn = async (stream: string) =>
  (await eventsIn(api.ledger.ports.ledger, stream)).map((entry) =>
    entry.readable ? entry.event.type : 'unreadable',
  )
const saleStreamOf = (saleId: string, provider: 'stripe' | 'gumroad' = 'stripe') =>
  saleStream(shop.tenantId, provider, sha256(saleId))

async function onlySale() {
  const [sale, ...others] = await shop.sales()
  if (!sale || others.length > 0) throw new Error('there is not exactly one sale')
  return sale
}

async function issuedFor(name: string, own: Parameters<typeof purchase>[1] = {}) {
  const bought = purchase(name, own)
  const outcome = await shop.tell(bought.sold())
  if (outcome.outcome !== 'issued') throw new Error(`nothing was issued: ${outcome.outcome}`)
  return { ...bought, ...outcome, licenseNow: async () => shop.licenseOf(await onlySale()) }
}

describe('a paid sale', () => {
  test('is licensed once, and its key is returned once', async () => {
    const { sold, license, licenseKey } = await issuedFor('ada', {
      sold: { productId: 'editor', keyTypeId: 'forever' },
      quantity: 3,
      productName: 'Editor',
    })
    expect(license).toMatchObject({
      productId: 'editor',
      keyTypeId: 'forever',
      quantity: 3,
      deviceLimit: 6,
      expiresAt: null,
      source: 'sale',
      saleId: 'cs_ada',
      test: false,
    })
    expect(await api.ledger.ports.subjects.openPeople(shop.tenantId, [license.holder])).toStrictEqual([
      { email: 'ada@example.com', name: 'Ada Lovelace' },
    ])
    const body = { product_id: 'editor', license_key: licenseKey, device_id: 'd' }
    expect(await api.ask('POST', '/v1/licenses/activate', { token: shop.token, body })).toMatchObject({
      body: { activated: true },
    })
    expect(await shop.tell(sold())).toStrictEqual({ outcome: 'duplicate' })
    expect(await shop.tell(sold({ notificationId: 'evt_other' }))).toStrictEqual({ outcome: 'duplicate' })
    const sale = await onlySale()
    expect(sale).toMatchObject({ status: 'licensed', licenseId: license.licenseId, duplicates: 2 })
    expect(await shop.saleOf(license.licenseId)).toMatchObject({ sessionId: 'cs_ada' })
    expect(await typesIn(saleStreamOf('cs_ada'))).toStrictEqual([
      'SaleReceived',
      'SaleMapped',
      'SaleLicensed',
      'SalePaymentRecorded',
      'DuplicateReceived',
      'DuplicateReceived',
    ])
  })

  test('has its key and its notification only in the vault', async () => {
    const { sold, license, licenseKey } = await issuedFor('ada')
    const { secrets, ledger } = api.ledger.ports
    expect(await secrets.open(shop.tenantId, saleKeyName(license.licenseId))).toBe(licenseKey)
    const [received] = await eventsIn(ledger, saleStreamOf('cs_ada'))
    if (!received?.readable || received.event.type !== 'SaleReceived') throw new Error('no sale')
    expect(await secrets.open(shop.tenantId, received.event.data.payload)).toBe(JSON.stringify(sold()))
    const log = JSON.stringify(
      [
        ...(await eventsIn(ledger, saleStreamOf('cs_ada'))),
        ...(await eventsIn(ledger, licenseStream(license.licenseId))),
      ],
      (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
    )
    for (const secret of [licenseKey, 'ada@example.com', 'Lovelace']) expect(log).not.toContain(secret)
  })

  test('is licensed once when it is notified concurrently; the others are duplicates', async () => {
    const { sold } = purchase('ada')
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => shop.tell(sold())))
    expect(Object.groupBy(outcomes, ({ outcome }) => outcome)).toMatchObject({
      issued: { length: 1 },
      duplicate: { length: 9 },
    })
    await onlySale()
  })

  test('expires at the end of the paid period when that is after the duration of its key type', async () => {
    const { license } = await issuedFor('ada', { paidUntil: month.second })
    expect(license.expiresAt).toBe(month.second)
  })

  test('with the same id can exist in several tenants', async () => {
    await issuedFor('ada')
    const other = await openShop(api)
    expect(await other.tell(purchase('ada').sold())).toMatchObject({ outcome: 'issued' })
  })
})

describe('a sale that cannot be licensed yet', () => {
  const gumroad = purchase('ada', {
    provider: 'gumroad',
    sold: { providerProduct: 'https://a.gumroad.com/l/ed' },
  })

  test('is parked, and licensed by a replay after the mapping is added', async () => {
    const parked = { outcome: 'parked', reason: 'no_mapping', detail: 'https://a.gumroad.com/l/ed' }
    expect(await shop.tell(gumroad.sold())).toStrictEqual(parked)
    const { id } = await onlySale()
    const { ports } = api.ledger
    const replay = () => replaySale(ports, shop.tenantId, id, origin)
    await expect(replay()).rejects.toMatchObject({ code: 'sale_still_parked' })
    expect(await shop.tell(gumroad.sold())).toStrictEqual(parked)

    const { token } = shop
    await api.ask('POST', '/v1/integrations/gumroad/connect', { token })
    const body = { permalinks: ['ed'] }
    await api.ask('POST', '/v1/products/editor/integrations/gumroad', { token, body })
    expect(await replay()).toMatchObject({ status: 'licensed', productId: 'editor', keyTypeId: 'monthly' })
    await expect(replay()).rejects.toMatchObject({ code: 'sale_not_parked' })
    expect(await shop.tell(gumroad.sold())).toStrictEqual({ outcome: 'duplicate' })
    expect(await typesIn(saleStreamOf('cs_ada', 'gumroad'))).toStrictEqual([
      'SaleReceived',
      'SaleParked',
      'DuplicateReceived',
      'SaleMapped',
      'SaleLicensed',
      'SalePaymentRecorded',
      'DuplicateReceived',
    ])
  })

  test.each([
    ['product_not_found', { sold: { productId: 'player' } }, 'player'],
    ['key_type_not_found', { sold: { productId: 'editor', keyTypeId: 'pro' } }, 'pro'],
  ])('is parked with the reason %s', async (reason, own, detail) => {
    expect(await shop.tell(purchase('ada', own).sold())).toStrictEqual({ outcome: 'parked', reason, detail })
    expect(await onlySale()).toMatchObject({ status: 'parked', parked: { reason, detail } })
  })

  test.each(['quantity_not_allowed', 'quantity_too_large'] as const)(
    'that an older version parked for %s is licensed by a replay',
    async (reason) => {
      const { ports } = api.ledger
      const { sold } = purchase('ada', { quantity: 3 })
      await shop.tell(sold({ sold: { productId: 'unknown' } }))
      const place = { tenantId: shop.tenantId, provider: 'stripe', saleId: 'cs_ada' } as const
      await changeSale(ports, place, origin, (at) => ({
        type: 'ResolveSale',
        resolutions: [{ reason, detail: '3 of monthly' }],
        at,
      }))
      await makeProduct(api.ask, shop.token, 'unknown')
      const replayed = await replaySale(ports, shop.tenantId, (await onlySale()).id, origin)
      expect(replayed).toMatchObject({ status: 'licensed', exceeded: { sold: 1 } })
      expect(await shop.licenseOf(replayed)).toMatchObject({ quantity: 3, deviceLimit: 3 })
    },
  )

  test('of a suspended tenant is parked, and licensed by a replay after the suspension', async () => {
    const { ports } = api.ledger
    await suspendTenant(ports, shop.tenantId, null, origin)
    const { sold, refunded } = purchase('ada')
    await expect(shop.tell(sold())).rejects.toMatchObject({ code: 'tenant_suspended' })
    await expect(shop.tell(sold())).rejects.toMatchObject({ code: 'tenant_suspended' })
    const { id } = await onlySale()
    expect(await shop.tell(refunded('re_1', 100))).toStrictEqual({ outcome: 'recorded' })
    await reinstateTenant(ports, shop.tenantId, origin)
    await replaySale(ports, shop.tenantId, id, origin)
    expect(await onlySale()).toMatchObject({
      status: 'licensed',
      facts: { refunds: [{ refundId: 're_1', full: false }] },
    })
  })

  test('of a closed tenant is parked', async () => {
    await closeTenant(api.ledger.ports, shop.tenantId, null, origin)
    await expect(shop.tell(purchase('ada').sold())).rejects.toMatchObject({ code: 'tenant_closed' })
    expect(await onlySale()).toMatchObject({ status: 'parked', parked: { reason: 'tenant_closed' } })
  })
})

describe('a sale with a quantity above the maximum', () => {
  test.each([
    ['of a key type that is not sold in multiples', undefined, 2, 2, 1],
    ['of a key type with a maximum', 'forever', 11, 22, 10],
    ['of an extreme quantity', 'forever', 999_999_999_999, 1_000_000_000, 10],
  ])('%s is licensed as paid, with a notice', async (_, keyTypeId, quantity, deviceLimit, sold) => {
    const { license } = await issuedFor('ada', {
      sold: { productId: 'editor', ...(keyTypeId && { keyTypeId }) },
      quantity,
    })
    expect(license).toMatchObject({ quantity: Math.min(quantity, 1_000_000_000), deviceLimit })
    expect(await onlySale()).toMatchObject({ status: 'licensed', quantity, exceeded: { sold } })
  })

  test('of an unlimited key type stays unlimited', async () => {
    const keyTypes = [{ name: 'Everywhere', deviceLimit: null }]
    await makeProduct(api.ask, shop.token, 'player', { keyTypes })
    const { license } = await issuedFor('ada', { sold: { productId: 'player' }, quantity: 2 })
    expect(license).toMatchObject({ quantity: 2, deviceLimit: null })
    expect(await onlySale()).toMatchObject({ exceeded: { sold: 1 } })
  })
})

describe('a sale without a known buyer', () => {
  test('is licensed once without a holder, also when it is notified again and refunded', async () => {
    const { ports } = api.ledger
    const { sold, refunded, license, licenseKey } = await issuedFor('ada', { customer: null })
    expect(license).toMatchObject({ holder: null, customerId: null })
    expect(await onlySale()).toMatchObject({ status: 'licensed', customer: null })
    expect(await shop.tell(sold())).toStrictEqual({ outcome: 'duplicate' })
    await shop.tell(refunded('re_1', 100))
    const name = `notification.stripe.${sha256('evt_ada_re_1')}`
    expect(await ports.secrets.open(shop.tenantId, name)).toContain('re_1')
    expect(await ports.secrets.open(shop.tenantId, saleKeyName(license.licenseId))).toBe(licenseKey)
  })
})

describe('a later notification', () => {
  test('of a renewal extends the license and mints none', async () => {
    const { renewed, license, licenseNow } = await issuedFor('ada')
    expect(license.expiresAt).toBe(month.first)
    expect(await shop.tell(renewed('in_1', month.second))).toStrictEqual({ outcome: 'recorded' })
    expect(await shop.tell(renewed('in_1', month.second))).toStrictEqual({ outcome: 'recorded' })
    expect(await licenseNow()).toMatchObject({ licenseId: license.licenseId, expiresAt: month.second })
    expect(await typesIn(licenseStream(license.licenseId))).toStrictEqual([
      'LicenseMinted',
      'LicenseRenewed',
      'SaleFollowed',
    ])
  })

  test('of the end of a subscription lets the license expire with the paid period', async () => {
    const { ended, licenseNow } = await issuedFor('ada', {
      sold: { productId: 'editor', keyTypeId: 'forever' },
    })
    await shop.tell(ended(month.second))
    const license = await licenseNow()
    expect(license.expiresAt).toBe(month.second)
    expect(statusAt(license, month.first)).toBe('active')
    expect(statusAt(license, month.second)).toBe('expired')
  })

  test('of a full refund revokes the license; a partial refund does not', async () => {
    const { refunded, licenseNow, license } = await issuedFor('ada')
    await shop.tell(refunded('re_1', 1000))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, refundedAt: null })
    await shop.tell(refunded('re_2'))
    expect(await licenseNow()).toMatchObject({ revokedAt: beginning, revokedReason: 'refunded' })
    expect(await typesIn(licenseStream(license.licenseId))).toStrictEqual([
      'LicenseMinted',
      'SaleFollowed',
      'LicenseRefunded',
      'LicenseRevoked',
      'SaleFollowed',
    ])
  })

  test('of a refund only marks the license when the product keeps refunded licenses', async () => {
    const body = { onRefund: 'keep' }
    await api.ask('PATCH', '/v1/products/editor', { token: shop.token, body })
    const { refunded, licenseNow } = await issuedFor('ada')
    await shop.tell(refunded('re_1'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, refundedAt: beginning })
  })

  test('of a lost dispute revokes the license, and of a won one reinstates it', async () => {
    const { dispute, licenseNow } = await issuedFor('ada')
    await shop.tell(dispute('disputed'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null })
    await shop.tell(dispute('dispute_lost'))
    expect(await licenseNow()).toMatchObject({ revokedAt: beginning, revokedReason: 'refunded' })
    await shop.tell(dispute('dispute_won'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, revokedReason: null })
    await shop.tell(dispute('dispute_lost'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null })
  })

  test('of a refund of a renewal can arrive before the renewal, and affects only its payment', async () => {
    const { refunded, renewed, licenseNow } = await issuedFor('ada')
    await shop.tell(refunded('re_1', 4900, 'in_1'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null })
    await shop.tell(renewed('in_1', month.second))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, expiresAt: month.first })
    await shop.tell(renewed('in_2', month.third))
    await shop.tell(refunded('re_2', 100, 'in_2'))
    expect(await licenseNow()).toMatchObject({ revokedAt: null, expiresAt: month.third })
    expect(await onlySale()).toMatchObject({
      facts: { refunds: [{ refundId: 're_1' }, { refundId: 're_2' }] },
      factCount: 4,
      settledThrough: 4,
    })
  })

  test('can arrive before the sale', async () => {
    const { sold, refunded, renewed } = purchase('ada')
    expect(await shop.tell(refunded('re_1'))).toStrictEqual({ outcome: 'recorded' })
    expect(await shop.tell(refunded('re_1'))).toStrictEqual({ outcome: 'recorded' })
    expect(await shop.tell(renewed('in_1', month.second))).toStrictEqual({ outcome: 'recorded' })
    expect(await typesIn(linkStream(shop.tenantId, 'stripe', sha256('payment:pi_ada')))).toStrictEqual([
      'NoticeKept',
    ])
    expect(await shop.tell(sold())).toMatchObject({ outcome: 'issued' })
    const sale = await onlySale()
    expect(await shop.licenseOf(sale)).toMatchObject({ revokedAt: null, expiresAt: month.second })
    expect(sale).toMatchObject({ factCount: 2, settledThrough: 2 })
  })

  test('can refer to the sale by an id that only its second notification contains', async () => {
    const { sold, refunded } = purchase('ada')
    await shop.tell(refunded('re_1'))
    await shop.tell(sold({ links: [] }))
    expect(await shop.licenseOf(await onlySale())).toMatchObject({ revokedAt: null })
    expect(await shop.tell(sold())).toStrictEqual({ outcome: 'duplicate' })
    expect(await shop.licenseOf(await onlySale())).toMatchObject({ revokedReason: 'refunded' })
  })
})

describe('a test sale', () => {
  const { sold, refunded } = purchase('ada', { test: true })

  test('has no effect when the product is not in test mode', async () => {
    expect(await shop.tell(sold())).toMatchObject({ outcome: 'ignored' })
    expect(await shop.tell(refunded('re_1'))).toMatchObject({ outcome: 'ignored' })
    expect(await shop.sales()).toStrictEqual([])
  })

  test('issues a license marked as a test when the product is in test mode', async () => {
    const body = { publishableKey: 'pk_test_1', secretKey: 'sk_test_1' }
    await api.ask('POST', '/v1/products/editor/test-mode', { token: shop.token, body })
    expect(await shop.tell(sold())).toMatchObject({ license: { source: 'test', test: true } })
  })

  test('of a test purchase issues a license marked as a test in any mode', async () => {
    await api.ask('POST', '/v1/integrations/gumroad/connect', { token: shop.token })
    const { ports } = api.ledger
    const product = await ports.findProduct(shop.tenantId, 'editor')
    if (!product) throw new Error('no product')
    const { testPurchaseId } = await startTestPurchase(ports, product, {}, origin)
    const own = purchase('ada', { provider: 'gumroad', saleId: testPurchaseId })
    expect(await shop.tell(own.sold())).toMatchObject({ outcome: 'issued', license: { test: true } })
  })
})
