import type { PresentProduct } from '../../../projections/products/queries.ts'
import { termsOf } from '../../domain/licenses/issue.ts'
import type { PortalLanguage } from '../../domain/portal/texts.ts'
import type { KeyType, Price } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'
import { cardAccessOf, requireCardAccess } from './prices.ts'

export type Purchase = {
  keyTypeId: string
  quantity: number
  customerEmail?: string | undefined
  successUrl: string
  cancelUrl: string
  /** The customer's, which their mail will be in. */
  language?: PortalLanguage | undefined
}

/**
 * Opens a checkout page of the card provider for one key type of a product. Nothing is recorded: a payment
 * arrives as a notification of the provider.
 * @returns the page's URL
 * @throws Refusal `key_type_not_found`, `integration_not_connected`, `test_keys_missing`,
 *   `key_type_without_price`, `quantity_not_allowed`, `quantity_too_large`, `platform_key_missing`,
 *   `platform_key_refused`
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function openCheckout(
  ports: Ports<'db' | 'now' | 'providers' | 'secrets'>,
  product: PresentProduct,
  purchase: Purchase,
): Promise<string> {
  const { keyTypeId, quantity, customerEmail, successUrl, cancelUrl, language } = purchase
  const keyType = findKeyType(product, keyTypeId)
  if (!keyType) throw new Refusal('key_type_not_found')
  const access = await requireCardAccess(ports, product)
  // Refuse before the payment what could not be issued after it.
  termsOf(keyType, { quantity }, momentOf(ports))
  const price = await priceNow(ports, access, keyType)
  const { tenantId, productId } = product
  return ports.providers.card.openCheckout(access, {
    priceId: price.priceId,
    recurring: price.interval !== null,
    unitAmount: price.unitAmount,
    currency: price.currency,
    quantity,
    successUrl,
    cancelUrl,
    customerEmail,
    metadata: {
      tenant_id: tenantId,
      product_id: productId,
      key_type_id: keyTypeId,
      quantity: String(quantity),
      ...(language && { language }),
    },
  })
}

/** A verified price does not change at the provider; any other is looked up. */
async function priceNow(
  { providers }: Ports<'providers'>,
  access: CardAccess,
  { price }: KeyType,
): Promise<Pick<Price, 'priceId' | 'interval' | 'unitAmount' | 'currency'>> {
  if (!price) throw new Refusal('key_type_without_price')
  if (price.verified) return price
  const found = (await providers.card.readPrices(access, [price.priceId])).get(price.priceId)
  if (!found?.active) throw new Refusal('key_type_without_price')
  return { priceId: price.priceId, ...found }
}

/**
 * The key types of a product that can be bought now; none while the product has no connection to the card
 * provider.
 */
export async function purchasable(
  ports: Ports<'db' | 'secrets'>,
  product: PresentProduct,
): Promise<{ keyType: KeyType; amount: number; currency: string; interval: string | null }[]> {
  if (!(await cardAccessOf(ports, product))) return []
  return product.keyTypes.flatMap((keyType) => {
    const { verified, unitAmount, currency, interval } = keyType.price ?? { verified: false }
    if (!verified || typeof unitAmount !== 'number' || typeof currency !== 'string') return []
    return [{ keyType, amount: unitAmount, currency, interval: interval ?? null }]
  })
}
