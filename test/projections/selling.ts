import fc from 'fast-check'
import { disableTestMode, enableTestMode } from '../../src/commands/checkout/test-mode.ts'
import {
  connectMarketplace,
  disconnect,
  mapProduct,
  rotateSecret,
} from '../../src/commands/integrations/integrations.ts'
import { changeMail } from '../../src/commands/mails.ts'
import { decided } from '../../src/commands/products/products.ts'
import { startTestPurchase } from '../../src/commands/test-purchases.ts'
import { usualMail } from '../../src/domain/mails/mail.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import type { AllPorts } from '../../src/ports.ts'
import { createTestPurchaseDriver } from '../../src/processes/test-purchase-driver.ts'
import { createTestPurchaseRunner } from '../../src/processes/test-purchases.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { origin, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { month, purchase } from '../sales/notifications.ts'

/** What a vendor does to sell, and stops doing. */
export type SellingStep =
  | { do: 'sell'; through: 'gumroad' | 'paddle' | 'stripe' }
  | { do: 'sold' | 'refunded' | 'renewed' | 'sold to nobody' | 'told of a stranger'; sale: number }
  | { do: 'map' | 'rotate' | 'stop selling' | 'buy for a test' | 'test mode' | 'end test mode' }
  | { do: 'write to customers'; subject: string }

export const anySellingStep: fc.Arbitrary<SellingStep> = fc.oneof(
  fc.record({
    do: fc.constant('sell' as const),
    through: fc.constantFrom('gumroad' as const, 'paddle' as const, 'stripe' as const),
  }),
  fc.record({
    do: fc.constantFrom(
      'map' as const,
      'rotate' as const,
      'stop selling' as const,
      'buy for a test' as const,
      'test mode' as const,
      'end test mode' as const,
    ),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'sold' as const,
        'sold to nobody' as const,
        'refunded' as const,
        'renewed' as const,
        'told of a stranger' as const,
      ),
      sale: fc.nat({ max: 1 }),
    }),
  },
  fc.record({
    do: fc.constant('write to customers' as const),
    subject: fc.constantFrom('Your key', 'Thank you'),
  }),
)

/** No provider is asked: accounts and prices are recorded as if it had answered. */
export async function sell(
  { services, clock }: TestLedger,
  { tenantId, productId }: { tenantId: string; productId: string },
  step: SellingStep,
): Promise<unknown> {
  const at = clock.now().toISOString()
  const product = await services.findProduct(tenantId, productId)
  if (!product) throw new Error('the product is there')
  const operation = uniqueId('operation')
  switch (step.do) {
    case 'sell': {
      if (step.through !== 'stripe') {
        const asked =
          step.through === 'paddle'
            ? { provider: step.through, webhookSecret: 'secret' }
            : { provider: step.through }
        return connectMarketplace(services, tenantId, asked, operation, origin)
      }
      return connectAccount(services, tenantId, 'acct_1')
    }
    case 'map': {
      await mapProduct(services, product, 'gumroad', { permalinks: [operation] }, origin)
      const price = { priceId: 'price_1', unitAmount: 2900, currency: 'usd', interval: null, verifiedAt: at }
      const prices = [{ keyTypeId: 'default', price: { ...price, verified: true } }]
      await decided(services, tenantId, productId, origin, () => ({ type: 'MapPrices', prices, at }))
      return decided(services, tenantId, productId, origin, () => ({ type: 'RecordPrices', prices, at }))
    }
    case 'rotate':
      await rotateSecret(services, tenantId, { provider: 'gumroad' }, operation, origin)
      return rotateSecret(
        services,
        tenantId,
        { provider: 'paddle', webhookSecret: 'another' },
        uniqueId('operation'),
        origin,
      )
    case 'stop selling':
      await disconnect(services, tenantId, 'gumroad', origin)
      return disconnect(services, tenantId, 'stripe', origin)
    case 'buy for a test': {
      const { testPurchaseId } = await startTestPurchase(services, product, { provider: 'gumroad' }, origin)
      const driver = createTestPurchaseDriver(services, async () => undefined)
      return createTestPurchaseRunner(services, driver)(testPurchaseId, origin)
    }
    case 'sold':
      return tell(services, tenantId, saleNumber(step.sale).sold())
    case 'sold to nobody':
      return tell(services, tenantId, saleNumber(step.sale).sold({ sold: { productId: 'unknown' } }))
    case 'refunded':
      return tell(services, tenantId, saleNumber(step.sale).refunded('re_1'))
    case 'renewed':
      return tell(services, tenantId, saleNumber(step.sale).renewed('in_1', month.second))
    case 'told of a stranger':
      return tell(services, tenantId, purchase('stranger').ended(null))
    case 'write to customers':
      return changeMail(services, product, { ...usualMail.settings, subject: step.subject }, origin)
    case 'test mode': {
      const keys = { publishableKey: 'pk_test_1', secretKey: 'sk_test_1' }
      return enableTestMode(services, product, keys, operation, origin)
    }
    case 'end test mode':
      return disableTestMode(services, product, origin)
  }
}

const saleNumber = (number: number) => purchase(`sale${number}`)

const tell = (services: AllPorts, tenantId: string, told: PaymentNotification) =>
  receiveNotification(services, tenantId, told, JSON.stringify(told), origin)
