/**
 * Guarantee: no matter where a process is killed, every paid sale ends with exactly one license, in the state that
 * all its notifications require, in any order of arrival.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findLicense } from '../../projections/licenses/queries.ts'
import { listOpenSales } from '../../projections/sales/queries.ts'
import { foreignKey } from '../../src/credentials/license-key.ts'
import { saleKeyName } from '../../src/domain/licenses/keys.ts'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import { licenseStream } from '../../src/domain/streams.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { resumeSales } from '../../src/reactions/sales.ts'
import { openTestApi, type TestApi } from '../harness/api.ts'
import { eventsIn } from '../harness/ledger.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { anyTold, foundOf, toldAgain, wantedOf } from './model.ts'
import { Killed, mortal } from './mortal.ts'
import { month, purchase } from './notifications.ts'
import { openShop, type Shop } from './shop.ts'

const manySales = wholeVariable('KEYLEDGER_TEST_SALES', 12)

let api: TestApi
let shop: Shop
beforeAll(async () => {
  api = await openTestApi()
  shop = await openShop(api)
})
afterAll(() => api.close())

/** What another process does that is started later: its projector reads what was written last, its reactions act. */
async function react(): Promise<void> {
  api.ledger.clock.advance(11_000)
  await api.ledger.readModels.catchUp()
  const onFailure = ({ error }: { error: unknown }) => {
    throw error
  }
  await resumeSales(api.ledger.ports, { onFailure }).poll()
  expect(
    await listOpenSales(api.ledger.db, { from: 'infinity', until: 'infinity' }, { except: [], most: 1 }),
  ).toStrictEqual([])
}

/** @returns whether it was answered */
async function isTold(notification: PaymentNotification, dieAt: number): Promise<boolean> {
  try {
    await shop.tell(notification, mortal(api.ledger, dieAt))
    return true
  } catch (error) {
    if (error instanceof Killed) return false
    throw error
  }
}

/** A license of a sale, which was minted once, and whose key is the one that is kept. */
async function licenseCalled(licenseId: string) {
  const found = await findLicense(api.ledger.db, shop.tenantId, licenseId)
  if (!found) throw new Error(`there is no license ${licenseId}`)
  const events = await eventsIn(api.ledger.ports.ledger, licenseStream(licenseId))
  expect(events.filter((entry) => entry.readable && entry.event.type === 'LicenseMinted')).toHaveLength(1)
  const key = await api.ledger.ports.secrets.open(shop.tenantId, saleKeyName(licenseId))
  expect(foreignKey(key ?? '')).toMatchObject({ keyHash: found.license.keyHash })
  return found.license
}

/** The license that is the sale's only one, whose key is the one that is kept. */
async function onlyLicenseOf(sale: KnownSale) {
  const license = await shop.licenseOf(sale)
  const events = await eventsIn(api.ledger.ports.ledger, licenseStream(sale.licenseId))
  const minted = events.filter((entry) => entry.readable && entry.event.type === 'LicenseMinted')
  expect(minted).toHaveLength(1)
  const { rows } = await api.ledger.db.query('select from licenses where tenant_id = $1 and sale_id = $2', [
    shop.tenantId,
    sale.saleId,
  ])
  expect(rows).toHaveLength(1)
  const key = await api.ledger.ports.secrets.open(shop.tenantId, saleKeyName(license.licenseId))
  expect(foreignKey(key ?? '')).toMatchObject({ keyHash: license.keyHash })
  return license
}

async function saleCalled(saleId: string): Promise<KnownSale> {
  const { rows } = await api.ledger.db.query<{ state: KnownSale }>(
    'select state from sales where tenant_id = $1 and sale_id = $2',
    [shop.tenantId, saleId],
  )
  const [row] = rows
  if (!row) throw new Error(`there is no sale ${saleId}`)
  return row.state
}

test('a sale and its later notifications, killed at any write, give one license in the right state', async () => {
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const { sold, refunded, renewed, dispute } = purchase(`k${dieAt}`)
    const all = [
      refunded('re_1', 4900, 'in_1'),
      sold(),
      renewed('in_1', month.second),
      dispute('dispute_lost'),
    ]
    died = false
    for (const notification of all) {
      if (await isTold(notification, dieAt)) continue
      died = true
      deaths++
      await react()
      // Whoever was not answered tells it again.
      await shop.tell(notification)
    }
    await react()
    const license = await onlyLicenseOf(await saleCalled(`cs_k${dieAt}`))
    expect(license).toMatchObject({ revokedCause: 'refund', expiresAt: month.second })
  }
  // Of a sale alone: the notification, the intent, the key, the license, three links and the record.
  expect(deaths).toBeGreaterThan(16)
})

test('a sale of several items, killed at any write, gives each item one license', async () => {
  const item = (keyTypeId: string) => ({ productId: 'editor', keyTypeId })
  let deaths = 0
  for (let dieAt = 1, died = true; died; dieAt++) {
    const { sold, refunded } = purchase(`m${dieAt}`, {
      sold: { productId: 'unknown' },
      more: [
        { sold: item('monthly'), quantity: 1, line: { lineId: 'li_1', amount: 900 } },
        { sold: item('forever'), quantity: 3, line: { lineId: 'li_2', amount: 4000 } },
      ],
    })
    died = false
    const ofOne = { ...refunded('re_1', 900), lines: [{ lineId: 'li_1', amount: 900 }] }
    for (const notification of [sold(), ofOne]) {
      if (await isTold(notification, dieAt)) continue
      died = true
      deaths++
      await react()
      await shop.tell(notification)
    }
    await react()
    const sale = await saleCalled(`cs_m${dieAt}`)
    expect(sale.others).toMatchObject([
      { sold: { productId: 'unknown' }, unmapped: { reason: 'product_not_found' }, licensedAt: null },
      { keyTypeId: 'forever' },
    ])
    const bought = [sale, ...sale.others.filter(({ licensedAt }) => licensedAt !== null)]
    const licenses = await Promise.all(bought.map(({ licenseId }) => licenseCalled(licenseId)))
    expect(licenses).toMatchObject([
      { keyTypeId: 'monthly', quantity: 1, revokedCause: 'refund' },
      { keyTypeId: 'forever', quantity: 3, deviceLimit: 6, revokedCause: null },
    ])
    const { rows } = await api.ledger.db.query('select from licenses where tenant_id = $1 and sale_id = $2', [
      shop.tenantId,
      sale.saleId,
    ])
    expect(rows).toHaveLength(2)
  }
  // Besides what one license takes, the key and the license of the other item.
  expect(deaths).toBeGreaterThan(16)
})

test('a sale is resumed at once when the clock was set back after it was received', async () => {
  api.ledger.clock.advance(3_600_000)
  expect(await isTold(purchase('ahead').sold(), 6)).toBe(false)
  api.ledger.clock.advance(-3_600_000)
  await api.ledger.readModels.catchUp()
  const failures: unknown[] = []
  await resumeSales(api.ledger.ports, { onFailure: ({ error }) => failures.push(error) }).poll()
  expect(failures).toStrictEqual([])
  await onlyLicenseOf(await saleCalled('cs_ahead'))
})

test(`${manySales} sales, notified repeatedly in any order with kills, get the same licenses as notified once in order`, {
  timeout: testMs + manySales * 2000,
}, async () => {
  const purchases = Array.from({ length: manySales }, (_, number) => {
    return { saleId: `cs_r${number}`, told: anyTold(`r${number}`) }
  })
  const waiting = toldAgain(purchases.flatMap((bought) => bought.told))
  const lane = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const dieAt = Math.random() < 0.3 ? 1 + Math.floor(Math.random() * 16) : Number.POSITIVE_INFINITY
      if (!(await isTold(next, dieAt))) waiting.unshift(next)
    }
  }
  await Promise.all(Array.from({ length: 6 }, lane))
  await react()

  for (const { saleId, told } of purchases) {
    const license = await onlyLicenseOf(await saleCalled(saleId))
    expect(foundOf(told, license)).toStrictEqual(wantedOf(told, license.createdAt))
  }
})
