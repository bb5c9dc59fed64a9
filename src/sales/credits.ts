import { recordCredit, recordWithdrawal } from '../commands/meters/meters.ts'
import type { Origin } from '../commands/origin.ts'
import { amountOf } from '../domain/meters/amount.ts'
import type { MeterOwner } from '../domain/meters/meter.ts'
import { Refusal } from '../domain/refusal.ts'
import type { AddedCredit, CreditChange, CreditTarget, ItemCredit } from '../domain/sales/credits.ts'
import { itemsOf, type SaleItem } from '../domain/sales/items.ts'
import { itemPaymentStatus, type KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'

/** By what a credit of an item is known under its meter, however often its sale is reported. */
const keyOf = (sale: KnownSale, { licenseId }: SaleItem): string => `${sale.id}.${licenseId}`

const ownerOf = (
  { tenantId }: KnownSale,
  { productId, licenseId, customerId, meter, unit }: CreditTarget,
): MeterOwner => ({
  ...{ tenantId, meter, unit },
  ...(customerId === null ? { productId, licenseId } : { customerId }),
})

/**
 * Adds the credit of an item. The meter and the key were recorded with the sale, so that repeating it adds nothing more.
 * @throws LedgerUnavailable
 */
export async function creditItem(
  ports: Ports<'counting' | 'db' | 'newId' | 'now'>,
  sale: KnownSale,
  item: SaleItem,
  credit: ItemCredit,
  origin: Origin,
): Promise<Omit<AddedCredit, 'at'>> {
  const { days, amount } = credit
  const endsAt = days === null ? null : new Date(ports.now().getTime() + days * 86_400_000).toISOString()
  const added = { key: keyOf(sale, item), amount: amountOf(amount), endsAt, order: orderOf(sale) }
  return recordCredit(ports, ownerOf(sale, credit), added, origin)
}

const orderOf = ({ orderNumber, saleId }: KnownSale): string => orderNumber ?? saleId

/**
 * Lets the credits of a sale follow its payments: what is left of one is taken back once no payment is left, and returned when one
 * counts again.
 * @param keepRefunded whether the product keeps what was refunded
 * @returns what was done, for the sale to record; repeating it does nothing more
 * @throws LedgerUnavailable
 */
export async function followCredits(
  ports: Ports<'counting' | 'db' | 'findProduct' | 'newId'>,
  sale: KnownSale,
  origin: Origin,
): Promise<CreditChange[]> {
  const changes: CreditChange[] = []
  for (const [place, item] of itemsOf(sale).entries()) {
    const { credit } = item
    if (!credit?.added) continue
    const product = await ports.findProduct(sale.tenantId, credit.productId)
    const { onRefund, onPaidInFull } = product?.settings ?? {}
    const keepRefunded = onRefund === 'keep'
    const { unpaid } = itemPaymentStatus(sale, item, { keepRefunded, onPaidInFull })
    const isReturned = unpaid !== null && !keepRefunded
    if (isReturned === (credit.withdrawn !== null)) continue
    const change = isReturned
      ? await takenBack(ports, sale, item, credit, credit.added, origin)
      : await returned(ports, sale, item, credit, credit.added, origin)
    if (change) changes.push({ item: place, ...change })
  }
  return changes
}

async function takenBack(
  ports: Ports<'counting' | 'db'>,
  sale: KnownSale,
  item: SaleItem,
  credit: ItemCredit,
  { creditId }: AddedCredit,
  origin: Origin,
) {
  const key = `${keyOf(sale, item)}.withdrawn.${credit.withdrawals}`
  const reason = `the payment of ${orderOf(sale)} was returned`
  const left = await recordWithdrawal(ports, ownerOf(sale, credit), { creditId, reason, key }, origin)
  return { withdrawn: { creditId, left } }
}

/** @returns undefined where nothing was left, or it has ended meanwhile */
async function returned(
  ports: Ports<'counting' | 'db' | 'newId'>,
  sale: KnownSale,
  item: SaleItem,
  credit: ItemCredit,
  { endsAt }: AddedCredit,
  origin: Origin,
) {
  const amount = amountOf(credit.withdrawn?.left ?? '0')
  if (amount === 0n) return undefined
  const key = `${keyOf(sale, item)}.returned.${credit.withdrawals}`
  const again = { key, amount, endsAt, order: orderOf(sale) }
  try {
    return { returned: await recordCredit(ports, ownerOf(sale, credit), again, origin) }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'credit_ends_in_the_past') return undefined
    throw error
  }
}
