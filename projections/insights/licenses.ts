import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import type { License } from '../../src/domain/licenses/license.ts'
import { type Statement, writesOf } from '../statements.ts'
import { addTo, type CountRow, summed, utcDate } from './summed.ts'

export const licenseInsightsDdl = `
    -- Licenses that were issued and renewed, by day in UTC. Test licenses do not count.
    create table license_days (
      tenant_id text not null,
      day date not null,
      product_id text not null,
      issued int not null,
      renewed int not null,
      primary key (tenant_id, day, product_id)
    );
    -- Licenses that are neither revoked nor suspended, by the day in UTC on which they expire; infinity for those that never do.
    create table license_ends (
      tenant_id text not null,
      expires_on date not null,
      product_id text not null,
      licenses int not null,
      primary key (tenant_id, expires_on, product_id)
    )`

/** What one event changes in the counts. */
export type LicenseCounts = { days: CountRow[]; ends: CountRow[] }

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
    const { tenantId: tenant_id, productId: product_id } = after
    counts.days.push({ tenant_id, day: utcDate(event.data.at), product_id, ...day })
  }
  const ended = before && endOf(before)
  const ends = endOf(after)
  if (ended === ends) return
  for (const [expires_on, licenses] of [
    [ended, -1],
    [ends, 1],
  ] as const) {
    if (expires_on === undefined) continue
    counts.ends.push({ tenant_id: after.tenantId, expires_on, product_id: after.productId, licenses })
  }
}

function dayCountsOf({ type }: LicenseEvent): { issued: number; renewed: number } | undefined {
  if (type === 'LicenseMinted') return { issued: 1, renewed: 0 }
  return type === 'LicenseRenewed' ? { issued: 0, renewed: 1 } : undefined
}

/** The day on which it expires; undefined for a license that does not count. */
function endOf(license: License): string | undefined {
  if (license.status !== 'issued' || license.revokedAt !== null || license.suspendedAt !== null)
    return undefined
  return license.expiresAt === null ? 'infinity' : utcDate(license.expiresAt)
}

export const writesOfLicenseCounts = ({ days, ends }: LicenseCounts): Statement[] => [
  ...writesOf('add-license-days', addLicenseDays, summed(days, ['issued', 'renewed'])),
  ...writesOf('add-license-ends', addLicenseEnds, summed(ends, ['licenses'])),
]

const addLicenseDays = addTo('license_days', ['tenant_id', 'day', 'product_id'], ['issued', 'renewed'])
const addLicenseEnds = addTo('license_ends', ['tenant_id', 'expires_on', 'product_id'], ['licenses'])
