import { paymentsOf } from '../../src/domain/sales/payments.ts'
import type { Sale } from '../../src/domain/sales/sale.ts'
import { type Statement, writesOf } from '../statements.ts'
import { addTo, type CountRow, summed, utcDate } from './summed.ts'

export const saleInsightsDdl = `
    -- Sales and payments by the day in UTC of the payment. Test purchases do not count. Amounts are in minor units.
    create table sale_days (
      tenant_id text not null,
      day date not null,
      provider text not null,
      -- '' for a sale that is mapped to no product yet.
      product_id text not null,
      currency text not null,
      sales int not null,
      payments int not null,
      paid bigint not null,
      -- Of these payments, what went back since, by refunds and lost disputes.
      returned bigint not null,
      primary key (tenant_id, day, provider, product_id, currency)
    )`

const counts = ['sales', 'payments', 'paid', 'returned'] as const

/** What a change of a sale adds to the counts: its payments now, less its payments before. */
export function saleCounts(before: Sale, after: Sale): CountRow[] {
  const gone = rowsOf(before).map((row) => ({
    ...row,
    sales: -row.sales,
    payments: -row.payments,
    paid: -row.paid,
    returned: -row.returned,
  }))
  const rows = summed([...gone, ...rowsOf(after)], counts)
  return rows.filter((row) => counts.some((name) => row[name] !== 0))
}

function rowsOf(sale: Sale) {
  if (sale.status === 'absent' || sale.test) return []
  const { tenantId: tenant_id, provider, productId } = sale
  const payments = paymentsOf({ ...sale, links: sale.ownLinks }, sale.facts)
  return payments.map(({ isFirst, amount, currency, paidAt, refunded, takenBack }) => ({
    tenant_id,
    day: utcDate(paidAt),
    provider,
    product_id: productId ?? '',
    currency,
    sales: isFirst ? 1 : 0,
    payments: 1,
    paid: amount,
    returned: Math.min(amount, Math.max(refunded, takenBack?.amount ?? 0)),
  }))
}

export const writesOfSaleCounts = (rows: readonly CountRow[]): Statement[] =>
  writesOf('add-sale-days', addSaleDays, summed(rows, counts))

const addSaleDays = addTo('sale_days', ['tenant_id', 'day', 'provider', 'product_id', 'currency'], counts)
