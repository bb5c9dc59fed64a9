import { findLicense } from '../../projections/licenses/queries.ts'
import { findSaleOfLicense, listSales } from '../../projections/sales/queries.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { KnownSale } from '../../src/domain/sales/sale.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import type { AllPorts } from '../../src/ports.ts'
import type { ReceivedOutcome } from '../../src/sales/advance.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { makeTenant, type TestApi, type TestTenant } from '../harness/api.ts'
import type { TestLedger } from '../harness/ledger.ts'
import { makeProduct } from '../http/samples.ts'
import { purchase } from './notifications.ts'

const origin = { requestId: 'req_notification', actor: 'provider:stripe' }

/** A tenant that sells `editor`: `monthly` first, and `forever`, which is sold in multiples. */
export type Shop = TestTenant & {
  tell(notification: PaymentNotification, ports?: AllPorts): Promise<ReceivedOutcome>
  sales(): Promise<KnownSale[]>
  licenseOf(sale: KnownSale): Promise<IssuedLicense>
  saleOf(licenseId: string): Promise<KnownSale | undefined>
}

export async function openShop({ ledger, ask }: TestApi): Promise<Shop> {
  const tenant = await makeTenant(ledger)
  const { tenantId, token } = tenant
  await makeProduct(ask, token, 'editor', {
    keyTypes: [
      { name: 'Monthly', duration: { count: 1, unit: 'month' } },
      { name: 'Forever', duration: null, deviceLimit: 2, sellInMultiples: true, maxQuantity: 10 },
    ],
  })
  const { ports } = ledger
  return {
    ...tenant,
    tell: (notification, own = ports) =>
      receiveNotification(own, tenantId, notification, JSON.stringify(notification), origin),
    async sales() {
      const { items } = await listSales(ports.db, tenantId, {}, { after: undefined, limit: 100 })
      return items
    },
    async licenseOf({ licenseId }) {
      const entry = await findLicense(ports.db, tenantId, licenseId)
      if (!entry) throw new Error('the sale has no license')
      return entry.license
    },
    saleOf: (licenseId) => findSaleOfLicense(ports.db, tenantId, licenseId),
  }
}

/** A sale that is paid and has no license. @returns its id */
export async function parkedSale(
  { ports }: Pick<TestLedger, 'ports'>,
  tenantId: string,
  order = 'parked',
): Promise<string> {
  const { sold } = purchase(order, { sold: { productId: 'unknown' } })
  await receiveNotification(ports, tenantId, sold(), '{}', origin)
  const { items } = await listSales(
    ports.db,
    tenantId,
    { status: 'parked' },
    { after: undefined, limit: 100 },
  )
  const sale = items.find(({ saleId }) => saleId === sold().saleId)
  if (!sale) throw new Error('no sale is parked')
  return sale.id
}
