export const periodKinds = ['day', 'week', 'month', 'license', 'purchase'] as const
type PeriodKind = (typeof periodKinds)[number]

/** A time over which uses are counted. */
export type Period = {
  startsAt: string
  /** null while nothing is known to end it: the life of a license, and until its next purchase. */
  endsAt: string | null
}

/** The moments of a license by which its periods are counted. */
export type LicenseMoments = { issuedAt: string; purchasedAt: string }

/**
 * The period of a moment. Days, weeks and months are those of the calendar in UTC; weeks begin on Monday.
 * @param at not before the license was issued, and for purchases not before the last one
 */
export function periodAt(kind: PeriodKind, at: string, { issuedAt, purchasedAt }: LicenseMoments): Period {
  if (kind === 'license') return { startsAt: issuedAt, endsAt: null }
  if (kind === 'purchase') return { startsAt: purchasedAt, endsAt: null }
  const start = new Date(at)
  start.setUTCHours(0, 0, 0, 0)
  if (kind === 'week') start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7))
  if (kind === 'month') start.setUTCDate(1)
  const end = new Date(start)
  if (kind === 'month') end.setUTCMonth(end.getUTCMonth() + 1)
  else end.setUTCDate(end.getUTCDate() + (kind === 'week' ? 7 : 1))
  return { startsAt: start.toISOString(), endsAt: end.toISOString() }
}

/** For how long a device without a network may report what it has used, after the end of what it counts in. */
export const lateMs = 7 * 86_400_000

/** Until when uses are counted in a period that has ended. */
export const openUntil = ({ endsAt }: Period): string | null =>
  endsAt === null ? null : new Date(Date.parse(endsAt) + lateMs).toISOString()
