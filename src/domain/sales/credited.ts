import { mappedCredit } from './credits.ts'
import type { SaleEvent } from './events.ts'
import { itemsOf, unmappedItem, type WithItems, withItem } from './items.ts'

/** What of a sale its credits change besides its items. */
type Changed = WithItems & {
  status: 'parked' | 'received' | 'licensed'
  parked: unknown
  unboundLinks: boolean
  settledThrough: number
}

type DataOf<Type extends SaleEvent['type']> = Extract<SaleEvent, { type: Type }>['data']

/** An item of a sale is mapped, to a key type or to a credit. */
export function withMapped<Sale extends Changed>(
  sale: Sale,
  item: number,
  mapped: Parameters<typeof withItem>[2],
): Sale {
  const after = withItem(sale, item, mapped)
  return item === 0 ? { ...after, status: 'received', parked: null } : after
}

export function creditMapped<Sale extends Changed>(
  sale: Sale,
  { item = 0, at: mappedAt, customerId, ...target }: DataOf<'CreditMapped'>,
): Sale {
  const { productId } = target
  const credit = mappedCredit({ ...target, customerId: customerId ?? null })
  return withMapped(sale, item, { ...unmappedItem, productId, mappedAt, unmapped: null, credit })
}

export function credited<Sale extends Changed>(sale: Sale, data: DataOf<'SaleCredited'>): Sale {
  const { item = 0, creditId, amount, endsAt, at } = data
  const before = itemsOf(sale)[item]?.credit
  if (!before) return sale
  const credit = { ...before, added: { creditId, amount, endsAt, at }, withdrawn: null }
  const after = withItem(sale, item, { credit })
  if (before.added) return after
  return item > 0
    ? { ...after, settledThrough: 0 }
    : { ...after, unboundLinks: false, status: 'licensed', parked: null }
}

export function creditWithdrawn<Sale extends Changed>(
  sale: Sale,
  { item = 0, left, at }: DataOf<'SaleCreditWithdrawn'>,
): Sale {
  const before = itemsOf(sale)[item]?.credit
  if (!before) return sale
  const credit = { ...before, withdrawn: { left, at }, withdrawals: before.withdrawals + 1 }
  // What another process has settled meanwhile did not know of it.
  return { ...withItem(sale, item, { credit }), settledThrough: 0 }
}
