import type { Pool } from 'pg'
import { ownSlots } from '../../src/domain/licenses/event-traits.ts'
import { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { absentLicense, evolveLicense, type IssuedLicense } from '../../src/domain/licenses/license.ts'

type Row = { ordinal: number; type: string; data: unknown; seatsUsed: number }

/**
 * Reads licenses as they were right after given events, without their seats. Each is evolved from the events that decided it, of which there
 * are few however long its history is; the number of its used seats is recorded with each event.
 * @returns one state for each event, in the same order
 * @throws Error for an event that the license does not have
 */
export async function readLicensesAfter(
  db: Pool,
  refs: readonly { licenseId: string; revision: number }[],
): Promise<IssuedLicense[]> {
  const { rows } = await db.query<Row>({
    name: 'licenses-after-events',
    text: `select q.ordinal::int, e.type, e.data, own.seats_used as "seatsUsed"
           from unnest($1::text[], $2::int[]) with ordinality as q (license_id, revision, ordinal)
             join license_history own on own.license_id = q.license_id and own.revision = q.revision
             cross join lateral (
               select newest.* from unnest($3::text[]) as slots (slot) cross join lateral (
                 select * from license_history h
                 where h.license_id = q.license_id and h.slot = slots.slot and h.revision <= q.revision
                 order by h.revision desc limit 1
               ) newest
               union all
               select * from license_history h
               where h.license_id = q.license_id and h.slot is null and h.revision <= q.revision
             ) e
           order by q.ordinal, e.revision`,
    values: [refs.map(({ licenseId }) => licenseId), refs.map(({ revision }) => revision), ownSlots],
  })
  const byRef = Map.groupBy(rows, ({ ordinal }) => ordinal)
  return refs.map(({ licenseId, revision }, index) => {
    const deciding = byRef.get(index + 1) ?? []
    const [own] = deciding
    const license = deciding.reduce(
      (state, { type, data }) => evolveLicense(state, LicenseEvent.parse({ type, data })),
      absentLicense,
    )
    if (!own || license.status === 'absent') throw new Error(`${licenseId} has no event at ${revision}`)
    return { ...license, seatsUsed: own.seatsUsed }
  })
}
