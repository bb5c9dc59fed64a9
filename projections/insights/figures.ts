import type { Pool } from 'pg'
import { type Days, daysIn } from './days.ts'
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
} from './queries.ts'

/** What a vendor looks at, read from counts by day: it takes as long for a million sales as for ten. */
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

/** @param today in UTC */
export async function readFigures(db: Pool, tenantId: string, days: Days, today: string): Promise<Figures> {
  const [sales, licenses, present, versions, trials] = await Promise.all([
    readSaleDays(db, tenantId, days),
    readLicenseDays(db, tenantId, days),
    countLicenses(db, tenantId, today),
    countVersions(db, tenantId, days),
    readTrialDays(db, tenantId, days),
  ])
  const all = daysIn(days)
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
