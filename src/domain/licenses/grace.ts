/** An expiry, and for how long the license stays active after it. */
export type Expiry = {
  expiresAt: string | null
  /** In seconds; null for a license that ends at its expiry. */
  graceSeconds: number | null
}

/** Where the calendar of the log ends. */
const lastMoment = Date.parse('9999-12-31T23:59:59.000Z')

/** When a license ends: at its expiry, or when its grace after that is over. Null for never. */
export function endOf({ expiresAt, graceSeconds }: Expiry): string | null {
  if (expiresAt === null || !graceSeconds) return expiresAt
  return new Date(Math.min(lastMoment, Date.parse(expiresAt) + graceSeconds * 1000)).toISOString()
}

/** The end of the grace that follows the expiry; null for a license without one. */
export const graceUntilOf = (license: Expiry): string | null => {
  const end = endOf(license)
  return end === license.expiresAt ? null : end
}

/** The end of the grace of a license that is active at `now`; null while it has not expired. */
export const graceUntilAt = (license: Expiry, now: string): string | null =>
  license.expiresAt !== null && now >= license.expiresAt ? graceUntilOf(license) : null

/** As an event records it. */
export const recordedGrace = ({
  graceSeconds,
}: {
  graceSeconds?: number | null | undefined
}): { graceSeconds?: number } => (graceSeconds ? { graceSeconds } : {})
