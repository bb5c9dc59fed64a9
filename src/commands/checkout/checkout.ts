import { findIntegration } from '../../../projections/integrations.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { packOf } from '../../domain/integrations/integration.ts'
import { termsOf } from '../../domain/licenses/issue.ts'
import type { PortalLanguage } from '../../domain/portal/languages.ts'
import type { KeyType, Price } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import { creditFor } from '../meters/credited-license.ts'
import { momentOf } from '../origin.ts'
import { cardAccessOf, requireCardAccess } from './prices.ts'

export type CheckoutPorts = Ports<'db' | 'now' | 'providers' | 'secrets' | 'subjects'>

/** What is bought: a key type, or a pack of credits for a license that the buyer has. */
type Bought = { keyTypeId: string } | { packId: string; licenseId?: string | undefined }

export type Purchase = Bought & {
  quantity: number
  customerEmail?: string | undefined
  successUrl: string
  cancelUrl: string
  /** The customer's, which their mail will be in. */
  language?: PortalLanguage | undefined
}

/**
 * Opens a checkout page of the card provider for one key type or one credit pack of a product. Nothing is
 * recorded: a payment arrives as a notification of the provider.
 * @returns the page's URL
 * @throws Refusal `key_type_not_found`, `pack_not_found`, `integration_not_connected`, `test_keys_missing`,
 *   `key_type_without_price`, `pack_without_price`, `no_license_for_credit`, `quantity_not_allowed`,
 *   `quantity_too_large`, `platform_key_missing`, `platform_key_refused`
 * @throws ProviderRefused, ProviderUnavailable
 */
export async function openCheckout(
  ports: CheckoutPorts,
  product: PresentProduct,
  purchase: Purchase,
): Promise<string> {
  const { quantity, customerEmail, successUrl, cancelUrl, language } = purchase
  const { access, price, named } =
    'packId' in purchase
      ? await packToSell(ports, product, purchase)
      : await keyTypeToSell(ports, product, purchase)
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
      ...named,
      quantity: String(quantity),
      ...(language && { language }),
    },
  })
}

/** What can be bought now; `named` tells its notification what was bought. */
type ToSell = {
  access: CardAccess
  price: Pick<Price, 'priceId' | 'interval' | 'unitAmount' | 'currency'>
  named: Record<string, string>
}

async function keyTypeToSell(
  ports: CheckoutPorts,
  product: PresentProduct,
  { keyTypeId, quantity }: { keyTypeId: string; quantity: number },
): Promise<ToSell> {
  const keyType = findKeyType(product, keyTypeId)
  if (!keyType) throw new Refusal('key_type_not_found')
  const access = await requireCardAccess(ports, product)
  // Refuse before the payment what could not be issued after it.
  termsOf(keyType, { quantity }, momentOf(ports))
  const { price } = keyType
  if (!price) throw new Refusal('key_type_without_price')
  const named = { key_type_id: keyTypeId }
  // A verified price does not change at the provider; any other is looked up.
  if (price.verified) return { access, price, named }
  const found = await priceNow(ports, access, price.priceId)
  if (!found) throw new Refusal('key_type_without_price')
  return { access, price: found, named }
}

/**
 * A pack has the price under whose id it is mapped. Whether it can be sold follows from what the notification of its sale would
 * lead to now.
 */
async function packToSell(
  ports: CheckoutPorts,
  product: PresentProduct,
  { packId, licenseId, customerEmail, quantity }: Extract<Purchase, { packId: string }>,
): Promise<ToSell> {
  const { tenantId, productId, settings } = product
  const integration = await findIntegration(ports.db, tenantId, 'stripe')
  const pack = integration && packOf(integration, packId)
  if (pack?.productId !== productId) throw new Refusal('pack_not_found')
  const access = await requireCardAccess(ports, product)
  const subjectId =
    licenseId === undefined && customerEmail !== undefined
      ? await ports.subjects.findSubject(tenantId, customerEmail)
      : undefined
  const buyer = { subjectId, licenseId, test: settings.testMode.enabled }
  const resolution = await creditFor(ports, product, pack.pack, quantity, buyer)
  if ('reason' in resolution) {
    const isTooMuch = resolution.reason === 'quantity_too_large'
    throw new Refusal(isTooMuch ? 'quantity_too_large' : 'no_license_for_credit')
  }
  const price = await priceNow(ports, access, packId)
  // The renewals of a subscription add no credits.
  if (!price || price.interval !== null) throw new Refusal('pack_without_price')
  return {
    access,
    price,
    named: { pack_id: packId, ...(licenseId !== undefined && { license_id: licenseId }) },
  }
}

/** What the card provider has as an active price under this id now. */
async function priceNow(
  { providers }: Ports<'providers'>,
  access: CardAccess,
  priceId: string,
): Promise<ToSell['price'] | undefined> {
  const found = (await providers.card.readPrices(access, [priceId])).get(priceId)
  return found?.active ? { priceId, ...found } : undefined
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
