import { unknownProduct } from '../../domain/sales/events.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'

/** What was sold: its name at the provider, or the product and key type where the provider tells no name. */
export function itemName({ productName, productId, keyTypeId }: KnownSale): string {
  const isNamed = productName !== unknownProduct || productId === null
  return isNamed ? productName : [productId, keyTypeId].filter(Boolean).join(', ')
}

/** The same with the quantity, if it is not 1. */
export const itemWords = (sale: KnownSale): string =>
  sale.quantity === 1 ? itemName(sale) : `${sale.quantity} × ${itemName(sale)}`
