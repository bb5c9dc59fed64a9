import { type LicenseEntry, type LicenseFilter, listLicenses } from '../../projections/licenses/queries.ts'
import type { After } from '../../projections/page.ts'
import type { Services } from './services.ts'

/** A license as an export shows it, with its holder's e-mail address opened. */
export type OpenedLicense = { entry: LicenseEntry; email: string | null }

/** Few enough to hold, enough that the questions in between do not count. */
const pageSize = 500

/**
 * Every license that a filter finds, newest first, a page at a time: the next one is read when the one before it has
 * been taken, so any number needs the memory of one. Each page begins after the last license of the one before it,
 * so what is minted or imported meanwhile makes none of them come twice or go missing.
 * @param now decides who is expired, for all pages alike
 */
export async function* licensePages(
  services: Pick<Services, 'db' | 'subjects'>,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
): AsyncIterable<OpenedLicense[]> {
  let after: After | undefined
  do {
    const { items, next } = await listLicenses(services.db, tenantId, filter, now, { after, limit: pageSize })
    const people = await services.subjects.openPeople(
      tenantId,
      // Opening is most of the work, and nobody is shown the names.
      items.map(({ license }) => license.holder && { ...license.holder, name: null }),
    )
    yield items.map((entry, index) => ({ entry, email: people[index]?.email ?? null }))
    after = next
  } while (after)
}
