import type { Pool } from 'pg'
import type { Metering } from '../../projections/meters/licenses.ts'
import { findMeters } from '../../projections/meters/queries.ts'
import { readRecentUse } from '../../projections/meters/use-queries.ts'
import { amountText } from '../domain/meters/amount.ts'
import { forecastDays, forecastOf } from '../domain/meters/forecast.ts'
import { meterView } from '../domain/meters/view.ts'

/** How a meter of a license stands, with its forecast; null when there is too little to tell. */
export type LicenseMeter = Awaited<ReturnType<typeof readLicenseMeters>>[number]

/** How the meters of a license stand in their present periods, in the order of its key type. */
export async function readLicenseMeters(
  db: Pool,
  { tenantId, licenseId, meters, moments }: Metering,
  now: string,
) {
  if (meters.length === 0) return []
  const since = new Date(Date.parse(now) - forecastDays * 86_400_000).toISOString()
  const [used, recent] = await Promise.all([
    findMeters(db, tenantId, licenseId),
    readRecentUse(db, { tenantId, licenseId }, since),
  ])
  return meters.map((terms) => {
    const meter = used.get(terms.meter)
    const allowance = { terms, moments }
    const forecast = forecastOf(meter, allowance, recent.get(terms.meter), now)
    return {
      ...meterView(meter, allowance, now),
      forecast: forecast ? { ...forecast, perDay: amountText(forecast.perDay) } : null,
    }
  })
}
