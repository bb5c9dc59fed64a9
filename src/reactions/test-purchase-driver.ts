import { findIntegration } from '../../projections/integrations/queries.ts'
import { cardAccessOf } from '../commands/prices.ts'
import type { Services } from '../commands/services.ts'
import { type Mapping, soldIds } from '../domain/integration/mapping.ts'
import { findKeyType } from '../domain/product/product.ts'
import type { KnownTestPurchase } from '../domain/testpurchase/test-purchase.ts'
import type { StageOutcome, TestPurchaseDriver } from './test-purchases.ts'

/**
 * Runs what there is of a purchase: the checkout finds out what would be sold. Payment notifications are not received
 * yet, so there is nothing that the later stages could see, and they say so.
 */
export function createTestPurchaseDriver(services: Services): TestPurchaseDriver {
  return {
    checkout: (purchase) =>
      purchase.provider === 'stripe' ? checkPrice(services, purchase) : checkMapping(services, purchase),
    webhook: async () => failed('payment notifications are not yet received by this version'),
    license_minted: async () => failed('no payment notification was received, so nothing was minted'),
  }
}

const done = (detail: string): StageOutcome => ({ outcome: 'done', detail })
const failed = (detail: string): StageOutcome => ({ outcome: 'failed', detail })

async function checkPrice(services: Services, purchase: KnownTestPurchase): Promise<StageOutcome> {
  const { tenantId, productId, keyTypeId } = purchase
  const product = await services.findProduct(tenantId, productId)
  const access = product && (await cardAccessOf(services, product))
  if (!access) return failed('stripe is not connected any more, and the product not in test mode')
  const priceId = findKeyType(product, keyTypeId)?.price?.priceId
  if (priceId === undefined) {
    return failed(`no price sells the key type ${keyTypeId}; map one at …/${productId}/integrations/stripe`)
  }
  const price = (await services.providers.card.readPrices(access, [priceId])).get(priceId)
  if (!price) return failed(`stripe has no price ${priceId}`)
  if (!price.active) return failed(`the price ${priceId} is archived at stripe`)
  const amount = price.unitAmount === null ? 'no fixed amount' : `${price.unitAmount} ${price.currency}`
  return done(
    `nothing was paid; the price ${priceId} is on sale (${[amount, price.interval ?? 'once'].join(', ')})`,
  )
}

async function checkMapping(services: Services, purchase: KnownTestPurchase): Promise<StageOutcome> {
  const { tenantId, productId, keyTypeId, provider } = purchase
  const integration = await findIntegration(services.db, tenantId, provider)
  if (integration?.status !== 'connected') return failed(`${provider} is not connected any more`)
  const mapping = integration.mappings.find((entry) => entry.productId === productId)?.mapping
  const id = mapping && idSelling(mapping, keyTypeId)
  if (id === undefined) {
    return failed(
      `nothing at ${provider} is mapped to the key type ${keyTypeId}; map it at …/${productId}/integrations/${provider}`,
    )
  }
  return done(`nothing was paid; ${provider} sells it as ${id}`)
}

/** What a customer would buy there to get the key type; gumroad sells whatever the product's first one is. */
function idSelling(mapping: Mapping, keyTypeId: string): string | undefined {
  if ('permalinks' in mapping) return soldIds(mapping)[0]
  const entries = Object.entries(Object.values(mapping)[0] ?? {})
  return entries.find(([, target]) => target === keyTypeId)?.[0]
}
