import { type FurtherItem, itemsOf, type SaleItem } from '../domain/sales/items.ts'
import { failedRenewalsOf, type KnownSale } from '../domain/sales/sale.ts'
import { momentWords } from './sentences.ts'

/** A warning about a sale for its vendor. The license exists and is in use. */
export type SaleWarning = {
  code: 'quantity_exceeded' | 'plan_not_mapped' | 'item_not_mapped' | 'renewal_failed'
  message: string
}

/** The warnings of a sale, shown beside its status. */
export function warningsOf(sale: KnownSale): SaleWarning[] {
  return [
    ...itemsOf(sale).flatMap(quantityWarnings),
    ...planWarnings(sale),
    ...sale.others.flatMap(itemWarnings),
    ...failureWarnings(sale),
  ]
}

/** The renewals whose payment failed and is still to be made. */
export const failureWarnings = (sale: KnownSale): SaleWarning[] =>
  failedRenewalsOf(sale).map(({ failedAt, nextAttemptAt }) => {
    const next = nextAttemptAt === null ? '' : ` The provider tries again on ${momentWords(nextAttemptAt)}.`
    const message = `The payment for the renewal failed on ${momentWords(failedAt)}.${next} Unless a payment succeeds, the license ends with what was paid for.`
    return { code: 'renewal_failed', message }
  })

function planWarnings({ unmappedPlan }: KnownSale): SaleWarning[] {
  if (unmappedPlan === null) return []
  const message = `The subscription was changed to ${unmappedPlan}, which is not mapped to a key type of this product. The license has not changed. Map the plan, then replay the sale.`
  return [{ code: 'plan_not_mapped', message }]
}

function itemWarnings({ unmapped, quantity }: FurtherItem): SaleWarning[] {
  if (unmapped === null) return []
  const units = quantity === 1 ? '' : `${quantity} × `
  if (unmapped.reason === 'no_license_for_credit') {
    const message = `${units}credits were bought too and not added: ${unmapped.detail}. Issue or change a license so that it has the meter, then replay the sale.`
    return [{ code: 'item_not_mapped', message }]
  }
  const message = `${units}${unmapped.detail} was bought too and has no license, since it is not mapped to a key type. If it should have one, map it, then replay the sale.`
  return [{ code: 'item_not_mapped', message }]
}

function quantityWarnings({ exceeded, keyTypeId, quantity }: SaleItem): SaleWarning[] {
  if (exceeded === null) return []
  const { sold } = exceeded
  const most = sold === 1 ? 'is not sold in multiples' : `allows at most ${sold} per purchase`
  const message = `${quantity} were paid for, but the key type ${keyTypeId ?? ''} ${most}. The license covers ${quantity}.`
  return [{ code: 'quantity_exceeded', message }]
}
