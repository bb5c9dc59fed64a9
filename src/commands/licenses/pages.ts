import type { Pool } from 'pg'
import { findRevisionsAt, readEffectiveEvents } from '../../../projections/history/queries.ts'
import type { LicenseFilter } from '../../../projections/licenses/filter.ts'
import { type LicenseEntry, listLicenses } from '../../../projections/licenses/queries.ts'
import type { PageStart } from '../../../projections/page.ts'
import { absentLicense, evolveLicense } from '../../domain/licenses/license.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import type { Ports } from '../../ports.ts'

/** A license in an export, with its holder's email address decrypted. */
export type OpenedLicense = { entry: LicenseEntry; email: string | null }

/** The approver's knowledge ends here: a position in the log, and the time of the event there. */
type Bound = { position: bigint; at: string }

/** Small enough for memory, and large enough that the time of the queries does not matter. */
const pageSize = 500

/**
 * Every license that matches a filter both now and at the bound, newest first, in pages. A page is read when
 * the one before has been consumed, so memory use is that of one page. Each page begins after the last
 * license of the one before, so licenses that are added meanwhile cause no duplicates and no gaps.
 * @param now decides which licenses are expired, for all pages
 */
export async function* licensePages(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
  bound: Bound,
): AsyncIterable<OpenedLicense[]> {
  let after: PageStart | undefined
  do {
    const { items, next } = await listLicenses(ports.db, tenantId, filter, now, { after, limit: pageSize })
    const within = await matchedAtBound(ports.db, items, filter, bound)
    const people = await ports.subjects.openPeople(
      tenantId,
      // Decryption is most of the work, and names are not shown.
      within.map(({ license }) => license.holder && { ...license.holder, name: null }),
    )
    yield within.map((entry, index) => ({ entry, email: people[index]?.email ?? null }))
    after = next
  } while (after)
}

/**
 * Those that also matched the filter at the bound. A license's product never changes. Its creation date may
 * come from an import, so its position in the log decides whether it existed; its status is evolved from its
 * events up to then.
 */
async function matchedAtBound(
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
  // A license's status does not depend on its devices.
  const deciding = await readEffectiveEvents(db, licenseId, revision, [])
  const license = deciding.reduce((state, { event }) => evolveLicense(state, event), absentLicense)
  return license.status === 'absent' ? undefined : license
}
