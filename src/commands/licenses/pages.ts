import type { Pool } from 'pg'
import { findRevisionsAt, readEffectiveEvents } from '../../../projections/history/queries.ts'
import { type LicenseEntry, type LicenseFilter, listLicenses } from '../../../projections/licenses/queries.ts'
import type { PageStart } from '../../../projections/page.ts'
import { absentLicense, evolveLicense, statusAt } from '../../domain/licenses/license.ts'
import type { Ports } from '../../ports.ts'

/** A license as an export shows it, with its holder's e-mail address opened. */
export type OpenedLicense = { entry: LicenseEntry; email: string | null }

/** The end of what an approver knew: a place in the log, and the moment that was recorded with it. */
type Bound = { position: bigint; at: string }

/** Few enough to hold, enough that the questions in between do not count. */
const pageSize = 500

/**
 * Every license that a filter finds now and would have found at the bound, newest first, a page at a time: the next one
 * is read when the one before it has been taken, so any number needs the memory of one. Each page begins after the last
 * license of the one before it, so what is minted or imported meanwhile makes none of them come twice or go missing.
 * @param now decides who is expired, for all pages alike
 */
export async function* licensePages(
  services: Ports<'db' | 'subjects'>,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
  bound: Bound,
): AsyncIterable<OpenedLicense[]> {
  let after: PageStart | undefined
  do {
    const { items, next } = await listLicenses(services.db, tenantId, filter, now, { after, limit: pageSize })
    const within = await foundThen(services.db, items, filter, bound)
    const people = await services.subjects.openPeople(
      tenantId,
      // Opening is most of the work, and nobody is shown the names.
      within.map(({ license }) => license.holder && { ...license.holder, name: null }),
    )
    yield within.map((entry, index) => ({ entry, email: people[index]?.email ?? null }))
    after = next
  } while (after)
}

/**
 * Those that the filter would have found at the bound as well. A license's product never changes, and its date of
 * creation may be an import's own, so its place in the log says whether it was there; its status then is folded from
 * what had happened by then.
 */
async function foundThen(
  db: Pool,
  entries: readonly LicenseEntry[],
  { status }: LicenseFilter,
  { position, at }: Bound,
): Promise<LicenseEntry[]> {
  const revisions = await findRevisionsAt(
    db,
    entries.map(({ license }) => license.licenseId),
    position,
  )
  const within: LicenseEntry[] = []
  for (const entry of entries) {
    const { licenseId } = entry.license
    const revision = revisions.get(licenseId)
    if (revision === undefined) continue
    const isSame = status === undefined || revision === entry.revision
    const then = isSame ? entry.license : await licenseAt(db, licenseId, revision)
    if (then && (status === undefined || statusAt(then, at) === status)) within.push(entry)
  }
  return within
}

async function licenseAt(db: Pool, licenseId: string, revision: number) {
  // No device decides over a license's status.
  const deciding = await readEffectiveEvents(db, licenseId, revision, [])
  const license = deciding.reduce((state, { event }) => evolveLicense(state, event), absentLicense)
  return license.status === 'absent' ? undefined : license
}
