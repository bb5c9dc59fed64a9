import fc from 'fast-check'
import { disableTestMode, enableTestMode } from '../../src/commands/checkout/test-mode.ts'
import {
  changeIntegration,
  connectMarketplace,
  disconnect,
  mapProduct,
  rotateSecret,
} from '../../src/commands/integrations/integrations.ts'
import { connectMailSender, disconnectMailSender } from '../../src/commands/mail-senders.ts'
import { changeMail } from '../../src/commands/mails.ts'
import { addLanguage, changePortal, changePortalLogo, removeLanguage } from '../../src/commands/portal.ts'
import { changeProductWith, listReleases } from '../../src/commands/products.ts'
import { startTestPurchase } from '../../src/commands/test-purchases.ts'
import { changeMailStyle, removeMailTemplate, setMailTemplate } from '../../src/commands/wordings.ts'
import { usualMail } from '../../src/domain/mails/mail.ts'
import { closedPortal } from '../../src/domain/portal/portal.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import type { AllPorts } from '../../src/ports.ts'
import { createTestPurchaseDriver } from '../../src/reactions/test-purchase-driver.ts'
import { createTestPurchaseRunner } from '../../src/reactions/test-purchases.ts'
import { receiveNotification } from '../../src/sales/receive.ts'
import { origin, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { connectAccount } from '../harness/selling-api.ts'
import { month, purchase } from '../sales/notifications.ts'

/** A step of a vendor with payment providers, or a notification from them. */
export type SellingStep =
  | { do: 'connect'; through: 'gumroad' | 'paddle' | 'stripe' | 'own stripe account' }
  | { do: 'sold' | 'refunded' | 'renewed' | 'sold unmapped'; sale: number }
  | { do: 'unknown sale refunded' | 'unknown sale ended' }
  | { do: 'map' | 'rotate webhook secret' | 'disconnect' | 'test purchase' | 'test mode' | 'end test mode' }
  | { do: 'change mail'; subject: string }
  | { do: 'change portal'; name: string }
  | { do: 'word mail'; subject: string | null }
  | { do: 'list releases'; version: string }

export const anySellingStep: fc.Arbitrary<SellingStep> = fc.oneof(
  fc.record({
    do: fc.constant('connect' as const),
    through: fc.constantFrom(
      'gumroad' as const,
      'paddle' as const,
      'stripe' as const,
      'own stripe account' as const,
    ),
  }),
  fc.record({
    do: fc.constantFrom(
      'map' as const,
      'rotate webhook secret' as const,
      'disconnect' as const,
      'test purchase' as const,
      'test mode' as const,
      'end test mode' as const,
    ),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('sold' as const, 'sold unmapped' as const, 'refunded' as const, 'renewed' as const),
      sale: fc.nat({ max: 1 }),
    }),
  },
  fc.record({ do: fc.constantFrom('unknown sale refunded' as const, 'unknown sale ended' as const) }),
  fc.record({
    do: fc.constant('change mail' as const),
    subject: fc.constantFrom('Your key', 'Thank you'),
  }),
  fc.record({ do: fc.constant('change portal' as const), name: fc.constantFrom('Acme', 'Acme Ltd') }),
  fc.record({ do: fc.constant('word mail' as const), subject: fc.constantFrom('It ends', null) }),
  fc.record({ do: fc.constant('list releases' as const), version: fc.constantFrom('1.0', '2.0') }),
)

/** Runs one step without calling a provider: accounts and prices are recorded as after its answer. */
export async function runSellingStep(
  { ports, clock }: TestLedger,
  { tenantId, productId }: { tenantId: string; productId: string },
  step: SellingStep,
): Promise<unknown> {
  const at = clock.now().toISOString()
  const product = await ports.findProduct(tenantId, productId)
  if (!product) throw new Error('the product is there')
  const operation = uniqueId('operation')
  switch (step.do) {
    case 'connect': {
      if (step.through === 'own stripe account') {
        const names = { apiKey: `key.${operation}`, webhookSecret: `secret.${operation}` }
        return changeIntegration(ports, tenantId, 'stripe', origin, () => ({
          type: 'ConnectCardKey',
          tenantId,
          operationId: operation,
          ...names,
          test: false,
          at,
        }))
      }
      if (step.through !== 'stripe') {
        const provider =
          step.through === 'paddle'
            ? { provider: step.through, webhookSecret: 'secret' }
            : { provider: step.through }
        return connectMarketplace(ports, tenantId, provider, operation, origin)
      }
      return connectAccount(ports, tenantId, 'acct_1')
    }
    case 'map': {
      await mapProduct(ports, product, 'gumroad', { permalinks: [operation] }, origin)
      const price = { priceId: 'price_1', unitAmount: 2900, currency: 'usd', interval: null, verifiedAt: at }
      const prices = [{ keyTypeId: 'default', price: { ...price, verified: true } }]
      await changeProductWith(ports, tenantId, productId, origin, () => ({
        type: 'MapPrices',
        prices,
        at,
      }))
      return changeProductWith(ports, tenantId, productId, origin, () => ({
        type: 'RecordPrices',
        prices,
        at,
      }))
    }
    case 'rotate webhook secret':
      await rotateSecret(ports, tenantId, { provider: 'gumroad' }, operation, origin)
      return rotateSecret(
        ports,
        tenantId,
        { provider: 'paddle', webhookSecret: 'another' },
        uniqueId('operation'),
        origin,
      )
    case 'disconnect':
      await disconnect(ports, tenantId, 'gumroad', origin)
      return disconnect(ports, tenantId, 'stripe', origin)
    case 'test purchase': {
      const { testPurchaseId } = await startTestPurchase(ports, product, { provider: 'gumroad' }, origin)
      const driver = createTestPurchaseDriver(ports, async () => undefined)
      return createTestPurchaseRunner(ports, driver)(testPurchaseId, origin)
    }
    case 'sold':
      return receive(ports, tenantId, saleNumber(step.sale).sold())
    case 'sold unmapped':
      return receive(ports, tenantId, saleNumber(step.sale).sold({ sold: { productId: 'unknown' } }))
    case 'refunded':
      return receive(ports, tenantId, saleNumber(step.sale).refunded('re_1'))
    case 'renewed':
      return receive(ports, tenantId, saleNumber(step.sale).renewed('in_1', month.second))
    case 'unknown sale refunded':
      return receive(ports, tenantId, purchase('stranger').refunded('re_1'))
    case 'unknown sale ended':
      return receive(ports, tenantId, purchase('stranger').ended(null))
    case 'change mail':
      return changeMail(ports, product, { ...usualMail.settings, subject: step.subject }, origin)
    case 'change portal': {
      const { settings } = closedPortal
      const logo = { type: 'image/png', data: Buffer.from(step.name).toString('base64') } as const
      await changePortal(ports, tenantId, { ...settings, enabled: true, name: step.name }, origin)
      await changePortalLogo(ports, tenantId, logo, origin)
      await addLanguage(ports, tenantId, { tag: 'fr', name: step.name, texts: {} }, origin)
      await addLanguage(ports, tenantId, { tag: 'it', name: step.name, texts: { signOut: 'Ciao' } }, origin)
      return removeLanguage(ports, tenantId, 'fr', origin)
    }
    case 'word mail': {
      const place = { kind: 'expiring', productId, language: null } as const
      if (step.subject === null) {
        await disconnectMailSender(ports, tenantId, origin)
        return removeMailTemplate(ports, tenantId, place, origin)
      }
      const style = { replyTo: null, footer: step.subject, logo: true }
      const sender = { sender: 'mailgun', key: '0123456789abcdef' } as const
      await connectMailSender(ports, tenantId, sender, operation, origin)
      await changeMailStyle(ports, tenantId, style, origin)
      const texts = { subject: step.subject, text: '{{expires_on}}', html: null }
      return setMailTemplate(ports, tenantId, { ...place, ...texts }, origin)
    }
    case 'list releases': {
      const { version } = step
      const releases = [{ version, builtAt: '2026-01-01T00:00:00.000Z', channel: 'stable', url: null }]
      return listReleases(ports, { tenantId, productId }, releases, origin)
    }
    case 'test mode': {
      const keys = { publishableKey: 'pk_test_1', secretKey: 'sk_test_1' }
      return enableTestMode(ports, product, keys, operation, origin)
    }
    case 'end test mode':
      return disableTestMode(ports, product, origin)
  }
}

const saleNumber = (number: number) => purchase(`sale${number}`)

const receive = (ports: AllPorts, tenantId: string, notification: PaymentNotification) =>
  receiveNotification(ports, tenantId, notification, JSON.stringify(notification), origin)

/** Every kind of selling step, in an order in which each has its effect. */
export const everySellingStep: readonly SellingStep[] = [
  { do: 'connect', through: 'gumroad' },
  { do: 'connect', through: 'paddle' },
  { do: 'connect', through: 'stripe' },
  { do: 'map' },
  { do: 'rotate webhook secret' },
  { do: 'test purchase' },
  { do: 'refunded', sale: 0 },
  { do: 'change mail', subject: 'Your key' },
  { do: 'change portal', name: 'Acme' },
  { do: 'word mail', subject: 'It ends' },
  { do: 'word mail', subject: null },
  { do: 'word mail', subject: 'It ends' },
  { do: 'list releases', version: '1.0' },
  { do: 'sold', sale: 0 },
  { do: 'sold', sale: 0 },
  { do: 'renewed', sale: 0 },
  { do: 'sold unmapped', sale: 1 },
  { do: 'unknown sale refunded' },
  { do: 'unknown sale ended' },
  { do: 'disconnect' },
  { do: 'connect', through: 'own stripe account' },
  { do: 'test mode' },
  { do: 'end test mode' },
]
