import { findIntegration } from '../../projections/integrations.ts'
import { listMembers } from '../../projections/members.ts'
import { cardAccessOf } from '../commands/checkout/prices.ts'
import { emailOf } from '../commands/members/members.ts'
import { loadSale } from '../commands/sales.ts'
import { type Mapping, soldIds } from '../domain/integrations/mapping.ts'
import { findKeyType } from '../domain/products/product.ts'
import type { KnownTestPurchase } from '../domain/test-purchases/test-purchase.ts'
import { money } from '../history/changes.ts'
import type { SignedNotification, TestSale } from '../payments/payment-provider.ts'
import { paymentProviders } from '../payments/registry.ts'
import type { Ports } from '../ports.ts'
import type { StageOutcome, TestPurchaseDriver } from './test-purchases.ts'

/**
 * Sends a notification to the URL that the provider uses. Undefined when the service does not respond there.
 */
export type SendNotification = (
  notification: SignedNotification,
) => Promise<{ status: number; body: string } | undefined>

/** What a test purchase is simulated with. */
type DriverPorts = Ports<'db' | 'findProduct' | 'ledger' | 'now' | 'providers' | 'secrets' | 'subjects'>

/**
 * Simulates a purchase: the notification has the provider's shape and signature, and is sent to the same URL
 * as the provider's own. Only the payment is missing.
 */
export function createTestPurchaseDriver(ports: DriverPorts, send: SendNotification): TestPurchaseDriver {
  return {
    checkout: (purchase) =>
      purchase.provider === 'stripe' ? checkPrice(ports, purchase) : checkMapping(ports, purchase),
    webhook: (purchase) => notify(ports, purchase, send),
    license_minted: (purchase) => findLicense(ports, purchase),
  }
}

const done = (detail: string): StageOutcome => ({ outcome: 'done', detail })
const failed = (detail: string): StageOutcome => ({ outcome: 'failed', detail })

async function checkPrice(
  ports: Ports<'db' | 'findProduct' | 'providers' | 'secrets'>,
  purchase: KnownTestPurchase,
): Promise<StageOutcome> {
  const { tenantId, productId, keyTypeId } = purchase
  const product = await ports.findProduct(tenantId, productId)
  const access = product && (await cardAccessOf(ports, product))
  if (!access) return failed('Stripe is not connected, and the product has no test keys')
  const priceId = findKeyType(product, keyTypeId)?.price?.priceId
  if (priceId === undefined) {
    return failed(`the key type ${keyTypeId} has no price; map one at …/${productId}/integrations/stripe`)
  }
  const price = (await ports.providers.card.readPrices(access, [priceId])).get(priceId)
  if (!price) return failed(`Stripe has no price ${priceId}`)
  if (!price.active) return failed(`the price ${priceId} is archived at Stripe`)
  const amount = price.unitAmount === null ? 'no fixed amount' : money(price.unitAmount, price.currency)
  return done(
    `no payment was made; the price ${priceId} is on sale (${[amount, price.interval ?? 'once'].join(', ')})`,
  )
}

async function checkMapping(ports: Ports<'db'>, purchase: KnownTestPurchase): Promise<StageOutcome> {
  const { productId, keyTypeId, provider } = purchase
  const { status, soldAs } = await mappedAs(ports, purchase)
  if (status !== 'connected') return failed(`${provider} is no longer connected`)
  if (soldAs === undefined) {
    return failed(
      `nothing at ${provider} is mapped to the key type ${keyTypeId}; map it at …/${productId}/integrations/${provider}`,
    )
  }
  return done(`no payment was made; ${provider} sells it as ${soldAs}`)
}

async function mappedAs(ports: Ports<'db'>, { tenantId, productId, keyTypeId, provider }: KnownTestPurchase) {
  const integration = await findIntegration(ports.db, tenantId, provider)
  const mapping = integration?.mappings.find((entry) => entry.productId === productId)?.mapping
  return { status: integration?.status, soldAs: mapping && idSelling(mapping, keyTypeId) }
}

/**
 * The id at the provider for which the key type is sold; any of gumroad's ids stands for the product's first
 * key type.
 */
function idSelling(mapping: Mapping, keyTypeId: string): string | undefined {
  if ('permalinks' in mapping) return soldIds(mapping)[0]
  const entries = Object.entries(Object.values(mapping)[0] ?? {})
  return entries.find(([, target]) => target === keyTypeId)?.[0]
}

async function notify(
  ports: Ports<'db' | 'now' | 'providers' | 'secrets' | 'subjects'>,
  purchase: KnownTestPurchase,
  send: SendNotification,
): Promise<StageOutcome> {
  const { provider } = purchase
  const secret = await secretOf(ports, purchase)
  if (secret === undefined) {
    return failed(
      provider === 'stripe'
        ? 'the notification could not be signed: KEYLEDGER_STRIPE_WEBHOOK_SECRET is not set'
        : `the notification could not be signed: ${provider} is no longer connected`,
    )
  }
  const sale = await saleOf(ports, purchase)
  const answer = await send(paymentProviders[provider].testNotification(sale, secret, ports.now()))
  if (!answer) {
    const why = 'the service does not respond at KEYLEDGER_BASE_URL, which providers send notifications to'
    return { ...failed(why), mayRecover: true }
  }
  const { status, body } = answer
  if (status === 200) return done(`a notification with the signature of ${provider} got 200`)
  // A successful answer may hold the key; an unsuccessful one holds the reason.
  const why = status >= 400 ? `: ${body.slice(0, 300)}` : ''
  const failure = `a notification with the signature of ${provider} got ${status}${why}`
  return { ...failed(failure), mayRecover: status >= 500 || status === 429 }
}

async function secretOf(
  ports: Ports<'db' | 'providers' | 'secrets'>,
  { tenantId, provider }: KnownTestPurchase,
): Promise<string | undefined> {
  const integration = await findIntegration(ports.db, tenantId, provider)
  if (provider === 'stripe' && !integration?.ownAccount) return ports.providers.cardWebhookSecret
  const name = integration?.credentials.webhookSecret ?? integration?.credentials.pingToken?.name
  return name === undefined ? undefined : ports.secrets.open(tenantId, name)
}

async function saleOf(ports: Ports<'db' | 'subjects'>, purchase: KnownTestPurchase): Promise<TestSale> {
  const { testPurchaseId, tenantId, productId, keyTypeId, provider } = purchase
  const integration = await findIntegration(ports.db, tenantId, provider)
  return {
    tenantId,
    saleId: testPurchaseId,
    productId,
    keyTypeId,
    soldAs: (await mappedAs(ports, purchase)).soldAs ?? '',
    email: await addressFor(ports, tenantId),
    accountId: integration?.status === 'connected' ? integration.accountId : null,
    ownAccount: (integration?.ownAccount ?? null) !== null,
  }
}

/**
 * The mail with the key goes to an owner of the workspace, or without one to an address that accepts none.
 */
async function addressFor(ports: Ports<'db' | 'subjects'>, tenantId: string): Promise<string> {
  const members = await listMembers(ports.db, tenantId)
  const owner = members.find(({ role }) => role === 'owner')
  return (owner && (await emailOf(ports, owner))) ?? 'test-purchase@keyledger.invalid'
}

async function findLicense(ports: Ports<'ledger'>, purchase: KnownTestPurchase): Promise<StageOutcome> {
  const { tenantId, provider, testPurchaseId: saleId } = purchase
  const { state: sale } = await loadSale(ports, { tenantId, provider, saleId })
  if (sale.status === 'absent') return failed('the notification was accepted, but no sale was recorded')
  if (sale.parked) return failed(`the sale is parked: ${sale.parked.reason} (${sale.parked.detail})`)
  if (sale.status !== 'licensed') return failed('the sale is recorded but has no license yet')
  return done(`the license ${sale.licenseId} was issued, marked as a test`)
}
