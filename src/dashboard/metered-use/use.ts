import { z } from 'zod'
import type { MeterScope } from '../../../projections/meters/use-queries.ts'
import type { OwnedMeters } from '../../commands/meters/owners.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Ports } from '../../ports.ts'
import { type UsageRange, usageRange } from '../../usage/range.ts'
import { type MeteredUse, readMeteredUse } from '../../usage/read-metered.ts'
import { readStandings, type StandingMeter } from '../../usage/standing-meters.ts'

/** The ranges that a page shows: how long they are, and what one bar is. */
export const meterRanges = {
  day: { name: '24 hours', days: 1, bar: 'hour' },
  month: { name: '30 days', days: 30, bar: 'day' },
  all: { name: '400 days', days: 400, bar: 'day' },
} as const
export type MeterRangeName = keyof typeof meterRanges

/** What pages with metered use take in their address. */
export const meterQuery = { used: z.enum(['day', 'month', 'all']).catch('month') }
export const MeterQuery = z.object(meterQuery)
export type MeterQuery = z.infer<typeof MeterQuery>

export type ShownMeteredUse = { name: MeterRangeName; uses: readonly MeteredUse[]; now: Date }

/** What a scope used under its meters, in the range that a page shows. */
export async function meteredUseOf(
  ports: Ports<'db' | 'now'>,
  scope: MeterScope,
  { used: name }: MeterQuery,
): Promise<ShownMeteredUse> {
  const now = momentOf(ports)
  return { name, uses: await readMeteredUse(ports.db, scope, rangeOf(name, now)), now: new Date(now) }
}

/** The same, with how the meters of a license or a customer stand now. */
export async function standingUseOf(
  ports: Ports<'db' | 'now'>,
  owned: OwnedMeters,
  scope: { tenantId: string } & ({ licenseId: string } | { customerId: string }),
  query: MeterQuery,
): Promise<ShownMeteredUse & { meters: readonly StandingMeter[] }> {
  const id = 'customerId' in scope ? scope.customerId : scope.licenseId
  const [meters, use] = await Promise.all([
    owned.inUse(ports, scope.tenantId, id),
    meteredUseOf(ports, scope, query),
  ])
  return { ...use, meters: await readStandings(ports.db, meters, momentOf(ports)) }
}

function rangeOf(name: MeterRangeName, now: string): UsageRange {
  const { days, bar: granularity } = meterRanges[name]
  // The present hour or day is one of them.
  const lengthMs = granularity === 'hour' ? days * 86_400_000 - 3_600_000 : (days - 1) * 86_400_000
  const from = new Date(Date.parse(now) - lengthMs).toISOString()
  const range = usageRange({ from, granularity }, now)
  if (typeof range === 'string') throw new Error(`the last ${days} days are ${range}`)
  return range
}
