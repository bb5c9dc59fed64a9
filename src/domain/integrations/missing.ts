import type { KeyType } from '../products/key-type.ts'
import { findKeyType } from '../products/product.ts'
import type { KnownIntegration } from './integration.ts'
import { targetsOf } from './mapping.ts'
import type { Provider } from './provider.ts'

/** What is missing before every sale through a provider leads to a license. */
export type Missing =
  /** A setting of the installation, for its operator. */
  | { what: 'platform_key' }
  | { what: 'notification_secret' }
  | { what: 'connection' }
  | { what: 'onboarding' }
  /** No product can be found for a sale. */
  | { what: 'mapping' }
  /** These products are mapped to a key type or a product that no longer exists. */
  | { what: 'mapping_target'; productIds: string[] }
  | { what: 'price' }
  | { what: 'checkout_key' }
  /** The provider's notifications hold no email address; only its API returns it. */
  | { what: 'api_key' }

export type Surroundings = {
  integration: KnownIntegration | undefined
  products: readonly { productId: string; keyTypes: readonly KeyType[] }[]
  hasCheckoutKey: boolean
  /** What the installation itself has for accounts that are connected through its platform. */
  card: { hasPlatformKey: boolean; hasNotificationSecret: boolean }
}

/**
 * Everything that has to be done before sales through a provider lead to licenses, in the order of doing it.
 */
export function missingFor(provider: Provider, surroundings: Surroundings): Missing[] {
  return provider === 'stripe' ? missingForCard(surroundings) : missingForMarketplace(provider, surroundings)
}

function missingForCard({ integration, products, hasCheckoutKey, card }: Surroundings): Missing[] {
  const missing: Missing[] = []
  const status = integration?.status ?? 'disconnected'
  if (status === 'disconnected') missing.push({ what: 'connection' })
  else if (integration?.ownAccount === null) {
    if (!card.hasPlatformKey) missing.push({ what: 'platform_key' })
    if (!card.hasNotificationSecret) missing.push({ what: 'notification_secret' })
    if (status === 'onboarding') missing.push({ what: 'onboarding' })
  }
  const isPriced = products.some(({ keyTypes }) => keyTypes.some(({ price }) => price !== null))
  if (!isPriced && (integration?.packs ?? []).length === 0) missing.push({ what: 'price' })
  if (!hasCheckoutKey) missing.push({ what: 'checkout_key' })
  return missing
}

function missingForMarketplace(
  provider: Exclude<Provider, 'stripe'>,
  { integration, products }: Surroundings,
): Missing[] {
  if (integration?.status !== 'connected') return [{ what: 'connection' }]
  const missing: Missing[] = []
  const { mappings, packs, credentials } = integration
  if (mappings.length === 0 && (packs ?? []).length === 0) missing.push({ what: 'mapping' })
  const lost = mappings.filter(({ productId, mapping }) => {
    const product = products.find((one) => one.productId === productId)
    return !product || !targetsOf(mapping).every((keyTypeId) => findKeyType(product, keyTypeId))
  })
  if (lost.length > 0) {
    missing.push({ what: 'mapping_target', productIds: lost.map(({ productId }) => productId) })
  }
  if (provider === 'paddle' && credentials.apiKey === null) missing.push({ what: 'api_key' })
  return missing
}
