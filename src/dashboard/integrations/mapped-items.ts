import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { keyTypeSoldAs, soldIds } from '../../domain/integrations/mapping.ts'

/** One of a provider's ids, and what it is sold as. */
export type Item = { item: string; product: string; keyType: string; isPrice: boolean }

/**
 * What is mapped at a provider: its mappings, and Stripe's prices of key types.
 * @param products all that are sold there; a mapping of another one names a deleted product
 */
export function itemsOf(
  products: readonly PresentProduct[],
  { provider, mappings }: KnownIntegration,
): Item[] {
  const mapped = mappings.flatMap(({ productId, mapping }) => {
    const product = products.find((one) => one.productId === productId)
    return soldIds(mapping).map((item): Item => {
      const keyTypeId = keyTypeSoldAs(mapping, item) ?? product?.keyTypes[0]?.keyTypeId
      const keyType = product?.keyTypes.find((one) => one.keyTypeId === keyTypeId)
      return {
        item,
        product: product?.name ?? `${productId} (deleted)`,
        keyType: keyType?.name ?? `${keyTypeId ?? ''} (deleted)`,
        isPrice: false,
      }
    })
  })
  if (provider !== 'stripe') return mapped
  const priced = products.flatMap(({ name, keyTypes }) =>
    keyTypes.flatMap(({ price, name: keyType }) =>
      price ? [{ item: price.priceId, product: name, keyType, isPrice: true }] : [],
    ),
  )
  return [...priced, ...mapped]
}
