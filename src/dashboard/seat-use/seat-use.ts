import { z } from 'zod'
import type { SeatScope } from '../../../projections/seats/queries.ts'
import { momentOf } from '../../commands/origin.ts'
import type { Places } from '../../domain/licenses/seat-places.ts'
import type { Ports } from '../../ports.ts'
import { type SeatGranularity, seatRange, type UsageRange } from '../../usage/range.ts'
import { readPlaces, readSeatUse, type SeatUse } from '../../usage/read-seats.ts'

/** The ranges that a page shows: how long they are, and how many points are one bar. */
export const seatRanges = {
  day: { name: '24 hours', hours: 24, each: 15, bar: 'every 15 minutes' },
  month: { name: '30 days', hours: 30 * 24, each: 6, bar: 'every 6 hours' },
  all: { name: '400 days', hours: 400 * 24, each: 1, bar: 'every day' },
} as const
export type SeatRangeName = keyof typeof seatRanges

/** What pages with seats in use take in their address. */
export const seatQuery = {
  use: z.enum(['day', 'month', 'all']).catch('month'),
  /** A number of seats to compare with. */
  seats: z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .optional()
    .catch(undefined),
}
export const SeatQuery = z.object(seatQuery)
export type SeatQuery = z.infer<typeof SeatQuery>

export type ShownSeatUse = SeatUse & { name: SeatRangeName }

/** What fewer seats would have refused; a string when it has too many takings. */
export type WhatIf = { places: Places | 'too many'; seats: number | undefined }

type Services = Ports<'db' | 'now' | 'refusals'>

/** The seats in use of a scope; undefined when it has no floating seats, and had none in use. */
export async function seatUseOf(
  ports: Services,
  scope: SeatScope,
  { use: name }: SeatQuery,
): Promise<ShownSeatUse | undefined> {
  const now = momentOf(ports)
  await ports.refusals.flush()
  const use = await readSeatUse(ports.db, scope, rangeOf(seatRanges[name].hours, now), now)
  const isUsed = use.licenses > 0 || use.points.some(({ peak }) => peak > 0)
  return isUsed ? { ...use, name, points: joined(use.points, seatRanges[name].each) } : undefined
}

/** The takings of a license in the last 30 days, by what fewer seats would have done with them. */
export async function whatIfOf(ports: Services, licenseId: string, { seats }: SeatQuery): Promise<WhatIf> {
  const places = await readPlaces(ports.db, licenseId, rangeOf(seatRanges.month.hours, momentOf(ports)))
  return { places: typeof places === 'string' ? 'too many' : places, seats }
}

function rangeOf(hours: number, now: string): UsageRange<SeatGranularity> {
  const range = seatRange({ from: new Date(Date.parse(now) - hours * 3_600_000).toISOString() }, now)
  if (typeof range === 'string') throw new Error(`the last ${hours} hours are ${range}`)
  return range
}

/** Points together: the highest peak, and all that was denied. The first may have fewer, so that the last ends now. */
function joined(points: SeatUse['points'], each: number): SeatUse['points'] {
  const bars: SeatUse['points'] = []
  for (let end = points.length; end > 0; end -= each) {
    const part = points.slice(Math.max(0, end - each), end)
    const peak = Math.max(...part.map((point) => point.peak))
    const denied = part.reduce((sum, point) => sum + point.denied, 0)
    bars.unshift({ at: part[0]?.at ?? '', peak, denied })
  }
  return bars
}
