import {
  countLicenses,
  countVersions,
  type LicenseDay,
  type ProductLicenses,
  readLicenseDays,
  readSaleDays,
  readTrialDays,
  type SaleDay,
  type TrialDay,
  type VersionCount,
} from '../../../projections/insights/queries.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Ports } from '../../ports.ts'
import type { ChosenRange } from './range.ts'

/** Everything that the page shows, read from counts by day: it takes as long for a million sales as for ten. */
export type Figures = {
  sales: readonly SaleDay[]
  /** Every day of the range. */
  licenses: readonly LicenseDay[]
  /** Now, whatever the range. */
  present: readonly ProductLicenses[]
  versions: readonly VersionCount[]
  /** Every day of the range. */
  trials: readonly TrialDay[]
}

/** What the parts of the page are made from. */
export type Insights = {
  range: ChosenRange
  figures: Figures
  products: readonly PresentProduct[]
}

export async function readFigures(
  { db, now }: Ports<'db' | 'now'>,
  tenantId: string,
  { days, all }: ChosenRange,
): Promise<Figures> {
  const today = now().toISOString().slice(0, 10)
  const [sales, licenses, present, versions, trials] = await Promise.all([
    readSaleDays(db, tenantId, days),
    readLicenseDays(db, tenantId, days),
    countLicenses(db, tenantId, today),
    countVersions(db, tenantId, days),
    readTrialDays(db, tenantId, days),
  ])
  return {
    sales,
    licenses: everyDay(all, licenses, { issued: 0, renewed: 0 }),
    present,
    versions,
    trials: everyDay(all, trials, { started: 0, converted: 0 }),
  }
}

function everyDay<Row extends { day: string }>(
  all: readonly string[],
  rows: readonly Row[],
  none: Omit<Row, 'day'>,
): Row[] {
  const known = new Map(rows.map((row) => [row.day, row]))
  return all.map((day) => known.get(day) ?? ({ day, ...none } as Row))
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
