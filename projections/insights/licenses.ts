import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { endOf } from '../../src/domain/licenses/grace.ts'
import type { License } from '../../src/domain/licenses/license.ts'
import { defineTable, type RowIn } from '../table.ts'
import { utcDate } from './days.ts'

/** Licenses that were issued and renewed, by day in UTC. Test licenses do not count. */
export const licenseDays = defineTable(
  'license_days',
  {
    tenantId: 'text not null',
    day: 'date not null',
    productId: 'text not null',
    issued: 'int not null',
    renewed: 'int not null',
  },
  { key: ['tenantId', 'day', 'productId'], over: 'sum' },
)

/** Licenses that are neither revoked nor suspended, by the day in UTC on which they end, after their grace; infinity for those that never do, or whose term has not started. */
export const licenseEnds = defineTable(
  'license_ends',
  {
    tenantId: 'text not null',
    expiresOn: 'date not null',
    productId: 'text not null',
    licenses: 'int not null',
  },
  { key: ['tenantId', 'expiresOn', 'productId'], over: 'sum' },
)

/** What one event changes in the counts. */
export type LicenseCounts = {
  days: RowIn<typeof licenseDays>[]
  ends: RowIn<typeof licenseEnds>[]
}

/** Adds what one event changes. */
export function countLicenseEvent(
  counts: LicenseCounts,
  before: License | undefined,
  after: License,
  event: LicenseEvent,
): void {
  if (after.status !== 'issued' || after.test) return
  const day = dayCountsOf(event)
  if (day) {
    const { tenantId, productId } = after
    counts.days.push({ tenantId, day: utcDate(event.data.at), productId, ...day })
  }
  const ended = before && dayOfEnd(before)
  const ends = dayOfEnd(after)
  if (ended === ends) return
  for (const [expiresOn, licenses] of [
    [ended, -1],
    [ends, 1],
  ] as const) {
    if (expiresOn === undefined) continue
    counts.ends.push({ tenantId: after.tenantId, expiresOn, productId: after.productId, licenses })
  }
}

function dayCountsOf({ type }: LicenseEvent): { issued: number; renewed: number } | undefined {
  if (type === 'LicenseMinted') return { issued: 1, renewed: 0 }
  return type === 'LicenseRenewed' ? { issued: 0, renewed: 1 } : undefined
}

/** The day on which it ends; undefined for a license that does not count. */
function dayOfEnd(license: License): string | undefined {
  if (license.status !== 'issued' || license.revokedAt !== null || license.suspendedAt !== null)
    return undefined
  const end = endOf(license)
  return end === null ? 'infinity' : utcDate(end)
}
