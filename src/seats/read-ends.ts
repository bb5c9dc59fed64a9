import type { Pool } from 'pg'
import type { Seat } from '../domain/licenses/seats.ts'

/** When a floating seat ends unless its device calls; null where that is not set yet. */
export type SeatEnd = { deviceId: string; endsAt: string | null }

/**
 * The floating seats of a license that are in use now: without those that ran out, whether or not that is recorded. Nothing is marked: a
 * device may still call, and is answered by its own call.
 * @param taken the seats that the read models show as taken
 */
export async function readSeatEnds(
  db: Pool,
  licenseId: string,
  taken: readonly Pick<Seat, 'deviceId' | 'fence'>[],
): Promise<SeatEnd[]> {
  const { rows } = await db.query<SeatEnd>({
    name: 'read-seat-ends',
    text: `select q.device_id as "deviceId", e.ends_at as "endsAt"
           from unnest($2::text[], $3::int[]) as q (device_id, fence)
             left join usage.seat_ends e
               on e.license_id = $1 and e.device_id = q.device_id and e.fence = q.fence
           where e.ends_at is null or (not e.ended and e.ends_at > clock_timestamp())`,
    values: [licenseId, taken.map(({ deviceId }) => deviceId), taken.map(({ fence }) => fence)],
  })
  return rows
}
