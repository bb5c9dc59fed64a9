import type { KnownSale } from './sale.ts'

type Named = Pick<KnownSale, 'saleId' | 'sessionId' | 'orderNumber' | 'links'>

/** The provider's ids of a sale: its own, and those of its payments and its subscription. */
export function idsOfSale({ saleId, sessionId, links }: Omit<Named, 'orderNumber'>): string[] {
  // A link of a gift is made of what its two purchases share, and is no id.
  const linked = links.filter((link) => !link.startsWith('gift:'))
  return [...new Set([saleId, sessionId, ...linked.map((link) => link.slice(link.indexOf(':') + 1))])]
}

/** What a customer or a provider may call a sale: its ids, and the number of its receipt. */
export const numbersOfSale = (sale: Named): string[] => [
  ...idsOfSale(sale),
  ...(sale.orderNumber === undefined ? [] : [sale.orderNumber]),
]
