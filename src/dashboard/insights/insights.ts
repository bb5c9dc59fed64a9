import type { Figures } from '../../../projections/insights/figures.ts'
import type { SaleDay } from '../../../projections/insights/queries.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { ChosenRange } from './range.ts'

/** What the parts of the page are made from. */
export type Insights = {
  range: ChosenRange
  figures: Figures
  products: readonly PresentProduct[]
}

export type SaleSum = Pick<SaleDay, 'sales' | 'payments' | 'paid' | 'returned'>

/** Adds up payments of one currency. */
export const sumOf = (rows: readonly SaleDay[]): SaleSum =>
  rows.reduce(
    (sum, row) => ({
      sales: sum.sales + row.sales,
      payments: sum.payments + row.payments,
      paid: sum.paid + row.paid,
      returned: sum.returned + row.returned,
    }),
    { sales: 0, payments: 0, paid: 0, returned: 0 },
  )
