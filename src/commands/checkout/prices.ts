import { findIntegration } from '../../../projections/integrations.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Price } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import type { KeyTypePrice } from '../../domain/products/selling.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { CardPrice } from '../../payments/stripe/price-list.ts'
import type { Ports } from '../../ports.ts'
import { ownAccessOf } from '../integrations/own-account.ts'
import { momentOf, type Origin } from '../origin.ts'
import { changeProductWith } from '../products.ts'

/**
 * How the card provider is called for this product: in test mode with the product's test keys, or a test key of the
 * tenant's own account; else for the connected account. Undefined when there is none of them.
 */
export async function cardAccessOf(
  ports: Ports<'db' | 'secrets'>,
  product: PresentProduct,
): Promise<CardAccess | undefined> {
  const { tenantId, testKeys } = product
  const isTested = product.settings.testMode.enabled
  const name = isTested ? testKeys?.secretName : undefined
  const key = name ? await ports.secrets.open(tenantId, name) : undefined
  if (key !== undefined) return { key }
  const integration = await findIntegration(ports.db, tenantId, 'stripe')
  if (integration?.status !== 'connected') return undefined
  const { ownAccount, accountId } = integration
  // Test mode must never use the live account, nor may a product that is sold use a test key.
  if (ownAccount) return ownAccount.test === isTested ? ownAccessOf(ports, integration) : undefined
  return accountId === null || isTested ? undefined : { accountId }
}

/** @throws Refusal `integration_not_connected`, `card_key_is_test`; `test_keys_missing` in test mode */
export async function requireCardAccess(
  ports: Ports<'db' | 'secrets'>,
  product: PresentProduct,
): Promise<CardAccess> {
  const access = await cardAccessOf(ports, product)
  if (access) return access
  if (product.settings.testMode.enabled) throw new Refusal('test_keys_missing')
  const integration = await findIntegration(ports.db, product.tenantId, 'stripe')
  throw new Refusal(integration?.ownAccount?.test ? 'card_key_is_test' : 'integration_not_connected')
}

/**
 * Asks the card provider for the price of every key type that has one, and records all answers or none. A
 * price that is missing or archived is not verified.
 * @returns the product with its new prices; skipped when there is no connection or no price
 * @throws Refusal `platform_key_missing`, `platform_key_refused`
 * @throws ProviderRefused, ProviderUnavailable; nothing has been recorded then
 */
export async function verifyPrices(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'providers' | 'secrets'>,
  product: PresentProduct,
  origin: Origin,
): Promise<{ product: PresentProduct; skipped: boolean }> {
  const mapped = product.keyTypes.flatMap(({ keyTypeId, price }) => (price ? [{ keyTypeId, price }] : []))
  const access = mapped.length === 0 ? undefined : await cardAccessOf(ports, product)
  if (!access) return { product, skipped: true }
  const ids = mapped.map(({ price }) => price.priceId)
  const found = await ports.providers.card.readPrices(access, ids)
  const at = momentOf(ports)
  const prices = mapped.map(({ keyTypeId, price: { priceId } }) => ({
    keyTypeId,
    price: recorded(priceId, found.get(priceId), at),
  }))
  const { tenantId, productId } = product
  const verified = await changeProductWith(ports, tenantId, productId, origin, () => ({
    type: 'RecordPrices',
    prices,
    at,
  }))
  return { product: verified, skipped: false }
}

/**
 * Sets the card provider's price of each key type; key types that are not listed get none.
 * @param asked the price's id by key type
 * @throws Refusal `mapping_key_type_not_found`, `mapping_price_not_found`, `integration_not_connected`,
 *   `test_keys_missing`, `platform_key_missing`, `platform_key_refused`
 * @throws ProviderRefused, ProviderUnavailable; nothing has changed then
 */
export async function mapPrices(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'now' | 'providers' | 'secrets'>,
  product: PresentProduct,
  input: Readonly<Record<string, string>>,
  origin: Origin,
): Promise<PresentProduct> {
  const wanted = Object.entries(input)
  if (!wanted.every(([keyTypeId]) => findKeyType(product, keyTypeId))) {
    throw new Refusal('mapping_key_type_not_found')
  }
  const access = await requireCardAccess(ports, product)
  const ids = wanted.map(([, priceId]) => priceId)
  const found = await ports.providers.card.readPrices(access, ids)
  const at = momentOf(ports)
  const prices = wanted.map(([keyTypeId, priceId]): KeyTypePrice => {
    const price = recorded(priceId, found.get(priceId), at)
    if (!price.verified) throw new Refusal('mapping_price_not_found')
    return { keyTypeId, price }
  })
  const { tenantId, productId } = product
  return changeProductWith(ports, tenantId, productId, origin, () => ({ type: 'MapPrices', prices, at }))
}

function recorded(priceId: string, found: CardPrice | undefined, at: string): Price {
  return {
    priceId,
    verified: found?.active ?? false,
    unitAmount: found?.unitAmount ?? null,
    currency: found?.currency ?? null,
    interval: found?.interval ?? null,
    verifiedAt: at,
  }
}
