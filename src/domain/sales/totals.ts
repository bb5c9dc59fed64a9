import { type Payment, paymentsOf } from './payments.ts'
import type { KnownSale } from './sale.ts'

/** What was paid in one currency, and what of it went back since, by refunds and lost disputes; in minor units. */
export type Paid = { currency: string; paid: number; returned: number }

type PaidSale = Pick<
  KnownSale,
  'test' | 'ownLinks' | 'amount' | 'currency' | 'soldAt' | 'paidUntil' | 'line' | 'facts'
>

/** The payments of a sale. */
export const paymentsIn = (sale: Omit<PaidSale, 'test'>): Payment[] =>
  paymentsOf({ ...sale, links: sale.ownLinks }, sale.facts)

/** What of a payment went back. */
export const returnedOf = ({ amount, refunded, reversal }: Payment): number =>
  Math.min(amount, Math.max(refunded, reversal?.amount ?? 0))

/** All payments of sales, by currency, in the order of the codes. Tests do not count. */
export function paidByCurrency(sales: readonly PaidSale[]): Paid[] {
  const payments = sales.filter(({ test }) => !test).flatMap(paymentsIn)
  return [...Map.groupBy(payments, ({ currency }) => currency)]
    .map(([currency, of]) => ({
      currency,
      paid: of.reduce((sum, { amount }) => sum + amount, 0),
      returned: of.reduce((sum, payment) => sum + returnedOf(payment), 0),
    }))
    .toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
}
