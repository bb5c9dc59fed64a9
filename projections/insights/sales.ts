import type { Sale } from '../../src/domain/sales/sale.ts'
import { paymentsIn, returnedOf } from '../../src/domain/sales/totals.ts'
import { defineTable, type RowIn, summed } from '../table.ts'
import { utcDate } from './days.ts'

/** Sales and payments by the day in UTC of the payment. Test purchases do not count. Amounts are in minor units. */
export const saleDays = defineTable(
  'sale_days',
  {
    tenantId: 'text not null',
    day: 'date not null',
    provider: 'text not null',
    // '' for a sale that is mapped to no product yet.
    productId: 'text not null',
    currency: 'text not null',
    sales: 'int not null',
    payments: 'int not null',
    paid: 'bigint not null',
    // Of these payments, what went back since, by refunds and lost disputes.
    returned: 'bigint not null',
  },
  { key: ['tenantId', 'day', 'provider', 'productId', 'currency'], over: 'sum' },
)

export type SaleCounts = RowIn<typeof saleDays>

const counts = ['sales', 'payments', 'paid', 'returned'] as const

/** What a change of a sale adds to the counts: its payments now, less its payments before. */
export function saleCounts(before: Sale, after: Sale): SaleCounts[] {
  const removed = rowsOf(before).map((row) => ({
    ...row,
    sales: -row.sales,
    payments: -row.payments,
    paid: -row.paid,
    returned: -row.returned,
  }))
  const rows = summed([...removed, ...rowsOf(after)], counts)
  return rows.filter((row) => counts.some((name) => row[name] !== 0))
}

function rowsOf(sale: Sale) {
  if (sale.status === 'absent' || sale.test) return []
  const { tenantId, provider, productId } = sale
  return paymentsIn(sale).map((payment) => ({
    tenantId,
    day: utcDate(payment.paidAt),
    provider,
    productId: productId ?? '',
    currency: payment.currency,
    sales: payment.isFirst ? 1 : 0,
    payments: 1,
    paid: payment.amount,
    returned: returnedOf(payment),
  }))
}
