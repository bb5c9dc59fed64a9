import type { Pool } from 'pg'
import { findMeters } from '../../projections/meters/queries.ts'
import { readRecentUse } from '../../projections/meters/use-queries.ts'
import { amountText } from '../domain/meters/amount.ts'
import { forecastDays, forecastOf } from '../domain/meters/forecast.ts'
import type { Allowance } from '../domain/meters/free.ts'
import { type MeterOwner, ownerIdOf } from '../domain/meters/meter.ts'
import { meterView } from '../domain/meters/view.ts'
import { meterKey } from '../domain/streams.ts'
import type { MeteredUse } from './read-metered.ts'

/** How a meter stands in the present period, with its forecast; null when there is too little to tell. */
export type StandingMeter = Awaited<ReturnType<typeof readStandings>>[number]

/** The use of a meter of a license: what it used of a meter that it shares is not what it used of its own one. */
export const useOf = <Use extends Pick<MeteredUse, 'meter' | 'productId'>>(
  { meter, customerId }: Pick<StandingMeter, 'meter' | 'customerId'>,
  uses: readonly Use[],
): Use | undefined =>
  uses.find((use) => use.meter === meter && (use.productId === null) === (customerId !== null))

/** How meters of a license or a customer stand, in their order. */
export async function readStandings(
  db: Pool,
  meters: readonly { owner: MeterOwner; allowance: Allowance }[],
  now: string,
) {
  if (meters.length === 0) return []
  const idOf = ({ owner }: { owner: MeterOwner }) => meterKey(ownerIdOf(owner), owner.meter)
  const ids = meters.map(idOf)
  const since = new Date(Date.parse(now) - forecastDays * 86_400_000).toISOString()
  const [used, recent] = await Promise.all([findMeters(db, ids), readRecentUse(db, ids, since)])
  return meters.map(({ owner, allowance }) => {
    const id = idOf({ owner })
    const forecast = forecastOf(used.get(id), allowance, recent.get(id), now)
    return {
      customerId: 'customerId' in owner ? owner.customerId : null,
      ...meterView(used.get(id), allowance, now),
      forecast: forecast ? { ...forecast, perDay: amountText(forecast.perDay) } : null,
    }
  })
}
