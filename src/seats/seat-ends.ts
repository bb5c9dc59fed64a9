import type { Pool } from 'pg'
import { coalesce } from '../async/coalesce.ts'
import type { RanOut } from '../domain/licenses/floating.ts'
import { forgetWaits } from './seat-waits.ts'

/** A floating seat, and how long it lasts after each call of its device. */
type KeptSeat = {
  licenseId: string
  deviceId: string
  fence: number
  seatSeconds: number
  /** When the license file ends with which its device has borrowed it: it does not run out before. Null for one that is not borrowed. */
  fileEndsAt: string | null
}

/**
 * Until when floating seats last. Every end is set and compared by the clock of the database, in one statement over its row, so
 * that processes whose clocks differ agree, and of a late call and a new taking exactly one wins: whoever sees first that an
 * end has passed marks the row, and no call moves a marked end. Only a seat that is borrowed meanwhile goes on: the log frees none
 * before its license file ends.
 */
export type SeatEnds = {
  /**
   * Moves the end of a seat: it lasts for one period from now. Calls of one moment share a commit.
   * @returns the new end, in the format of the log; undefined when the seat ran out, or its device took another since
   */
  keep(seat: KeptSeat): Promise<string | undefined>
  /** Marks and returns the seats of a license that ran out and are not recorded as free yet. */
  passed(licenseId: string): Promise<RanOut[]>
  /**
   * Gives the seats of a license that have no end their first one: after a crash before it was set, a restore, or the loss of the table.
   * It reads all seats of the license, and does so at most once in ten seconds: until then, they only last longer.
   */
  begin(licenseId: string, seatSeconds: number): Promise<void>
  /**
   * The licenses with seats that ran out and are not recorded as free yet. Deletes the ends of
   * seats that nobody has had for a day, and who waits for a seat no more.
   */
  licensesWithPassed(most: number, except: readonly string[]): Promise<LicenseOfSeats[]>
  /**
   * Notes that calls of devices can be answered. After a time in which they could not, each seat that lasted until then
   * lasts for one more period.
   */
  noteRunning(): Promise<void>
}

export type LicenseOfSeats = { licenseId: string; tenantId: string }

/**
 * Without a note for this long, devices could not be answered. Half of the shortest period: a device that calls when half of its
 * period is over does not lose its seat in a shorter outage.
 */
const outageSeconds = 30
/** Whether the seat of device `d` is borrowed: it has not run out, whatever the table says that a backup leaves out. */
const isBorrowed = 'd.file_ends_at > clock_timestamp()'
const beginsEveryMs = 10_000
/** More licenses than a process refuses in that time. */
const maxLicenses = 10_000
/** The end of a seat that nobody has any more is kept for a call that is still under way. */
const keptAfterEnd = "interval '1 day'"

export function createSeatEnds(db: Pool): SeatEnds {
  const keep = coalesce(async (asked: readonly KeptSeat[]) => {
    const seats = [...asked.reduce(withSeat, new Map<string, KeptSeat>()).values()]
    const moved = await endsFrom(db, moveEnds, seats)
    // Most of the others are lost; some have no row yet, or that of an earlier seat of their device.
    const others = seats.filter((seat) => !moved.has(nameOf(seat)))
    const begun = others.length === 0 ? moved : await endsFrom(db, beginEnds, others)
    return asked.map((seat) => moved.get(nameOf(seat)) ?? begun.get(nameOf(seat)))
  })

  async function noteRunning(): Promise<void> {
    await db.query({ name: 'note-seats-kept', text: noteSql })
  }

  const begunAt = new Map<string, number>()

  return {
    keep,
    async passed(licenseId) {
      for (;;) {
        const { rows } = await db.query<{
          device_id: string | null
          fence: number | null
          is_running: boolean
        }>({
          name: 'seats-passed',
          text: passedSql,
          values: [licenseId],
        })
        if (rows[0]?.is_running !== false)
          return rows.flatMap(({ device_id: deviceId, fence }) =>
            deviceId === null || fence === null ? [] : [{ deviceId, fence }],
          )
        await noteRunning()
      }
    },
    async begin(licenseId, seatSeconds) {
      const now = performance.now()
      if (now - (begunAt.get(licenseId) ?? -Infinity) < beginsEveryMs) return
      if (begunAt.size >= maxLicenses) begunAt.clear()
      begunAt.set(licenseId, now)
      await db.query({ ...beginAll, values: [licenseId, seatSeconds] })
    },
    async licensesWithPassed(most, except) {
      await forgetWaits(db)
      await db.query({
        name: 'forget-seat-ends',
        text: `delete from usage.seat_ends e
               where ends_at < clock_timestamp() - ${keptAfterEnd} and not exists (
                 select from devices d where d.license_id = e.license_id and d.device_id = e.device_id
                   and d.status = 'active' and d.fence = e.fence
               )`,
      })
      const { rows } = await db.query<LicenseOfSeats>({
        name: 'licenses-with-passed-seats',
        text: `select distinct e.license_id as "licenseId", d.tenant_id as "tenantId"
               from usage.seat_ends e
               join devices d on d.license_id = e.license_id and d.device_id = e.device_id
                 and d.status = 'active' and d.fence = e.fence and not coalesce(${isBorrowed}, false)
               where e.ends_at <= clock_timestamp() and e.license_id <> all($2)
               limit $1`,
        values: [most, except],
      })
      return rows
    },
    noteRunning,
  }
}

const nameOf = ({ licenseId, deviceId, fence }: Pick<KeptSeat, 'licenseId' | 'deviceId' | 'fence'>) =>
  `${licenseId} ${fence} ${deviceId}`

/** Of calls about one seat, that which knows the later license file counts. */
function withSeat(seats: Map<string, KeptSeat>, seat: KeptSeat): Map<string, KeptSeat> {
  const name = nameOf(seat)
  const known = seats.get(name)
  return known && (known.fileEndsAt ?? '') >= (seat.fileEndsAt ?? '') ? seats : seats.set(name, seat)
}

/** @returns the ends that were set, by {@link nameOf} */
async function endsFrom(
  db: Pool,
  statement: { name: string; text: string },
  seats: readonly KeptSeat[],
): Promise<Map<string, string>> {
  const values = [
    seats.map(({ licenseId }) => licenseId),
    seats.map(({ deviceId }) => deviceId),
    seats.map(({ fence }) => fence),
    seats.map(({ seatSeconds }) => seatSeconds),
    seats.map(({ fileEndsAt }) => fileEndsAt),
  ]
  const { rows } = await db.query<Pick<KeptSeat, 'licenseId' | 'deviceId' | 'fence'> & { endsAt: string }>({
    ...statement,
    values,
  })
  return new Map(rows.map(({ endsAt, ...seat }) => [nameOf(seat), endsAt]))
}

const asked = `unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::timestamptz[])
  as asked (license_id, device_id, fence, seat_seconds, file_ends_at)`
const setEnds = `e.license_id as "licenseId", e.device_id as "deviceId", e.fence, e.ends_at as "endsAt"`

/**
 * Rows are locked in one order, so that no two statements wait for each other. An end that passed during an outage has not
 * been seen by anybody: its seat goes on.
 */
const moveEnds = {
  name: 'move-seat-ends',
  text: `with locked as (
           select e.license_id, e.device_id, e.fence, asked.seat_seconds, asked.file_ends_at
           from usage.seat_ends e join ${asked} using (license_id, device_id, fence)
           order by e.license_id, e.device_id for update of e
         )
         update usage.seat_ends e
         set seat_seconds = l.seat_seconds, ended = false,
           ends_at = greatest(e.ends_at, clock_timestamp() + make_interval(secs => l.seat_seconds), l.file_ends_at)
         from locked l
         where e.license_id = l.license_id and e.device_id = l.device_id and e.fence = l.fence
           and (l.file_ends_at > clock_timestamp() or not e.ended and (e.ends_at > clock_timestamp() or exists (
             select from usage.seats_kept k
             where k.kept_at <= clock_timestamp() - interval '${outageSeconds} seconds' and e.ends_at > k.kept_at
           )))
         returning ${setEnds}`,
}

/** A row of an earlier seat of the device becomes that of the new one; a later one stays. */
const inPlaceOfEarlier = `
  on conflict (license_id, device_id) do update
    set fence = excluded.fence, seat_seconds = excluded.seat_seconds, ends_at = excluded.ends_at, ended = false
    where e.fence < excluded.fence`

/** Gives seats without a row, or with that of an earlier seat of their device, their first end. */
const beginEnds = {
  name: 'begin-seat-ends',
  text: `insert into usage.seat_ends as e (license_id, device_id, fence, seat_seconds, ends_at)
         select distinct on (license_id, device_id) license_id, device_id, fence, seat_seconds,
           greatest(clock_timestamp() + make_interval(secs => seat_seconds), file_ends_at)
         from ${asked}
         order by license_id, device_id, fence desc
         ${inPlaceOfEarlier}
         returning ${setEnds}`,
}

/** Gives all seats of a license without a row, or with that of an earlier seat of their device, their first end. */
const beginAll = {
  name: 'begin-all-seat-ends',
  text: `insert into usage.seat_ends as e (license_id, device_id, fence, seat_seconds, ends_at)
         select d.license_id, d.device_id, d.fence, $2::int,
           greatest(clock_timestamp() + make_interval(secs => $2::int), d.file_ends_at)
         from devices d left join usage.seat_ends known
           on known.license_id = d.license_id and known.device_id = d.device_id
         where d.license_id = $1 and d.status = 'active' and d.fence is not null
           and (known.fence is null or known.fence < d.fence)
         order by d.device_id
         ${inPlaceOfEarlier}`,
}

/**
 * One row at least: without seats that ran out, it says only whether processes run. The rows of a license are locked in one order, so
 * that no two statements wait for each other. The time of the statement is one that the planner knows: few ends have passed.
 */
const passedSql = `
  with running as (
    select coalesce(
      (select kept_at > clock_timestamp() - interval '${outageSeconds} seconds' from usage.seats_kept), false
    ) as is_running
  ),
  locked as (
    select e.device_id from usage.seat_ends e
    where e.license_id = $1 and not e.ended and e.ends_at <= statement_timestamp() and (select is_running from running)
      and not exists (
        select from devices d
        where d.license_id = e.license_id and d.device_id = e.device_id and d.fence = e.fence and ${isBorrowed}
      )
    order by e.device_id for update of e
  ),
  marked as (
    update usage.seat_ends e set ended = true from locked l
    where e.license_id = $1 and e.device_id = l.device_id and not e.ended and e.ends_at <= statement_timestamp()
    returning e.device_id, e.fence
  ),
  passed as (
    select device_id, fence from usage.seat_ends where license_id = $1 and ended
    union
    select device_id, fence from marked
  )
  select p.device_id, p.fence, r.is_running
  from running r left join (
    passed p join devices d on d.license_id = $1 and d.device_id = p.device_id and d.status = 'active' and d.fence = p.fence
      and not coalesce(${isBorrowed}, false)
  ) on true`

/** The row of the note is locked first, so that one process alone sees an outage. */
const noteSql = `
  with before as (select kept_at from usage.seats_kept for update),
  locked as (
    select e.license_id, e.device_id from usage.seat_ends e, before
    where before.kept_at < clock_timestamp() - interval '${outageSeconds} seconds'
      and not e.ended and e.ends_at > before.kept_at
    order by license_id, device_id for update of e
  ),
  extended as (
    update usage.seat_ends e
    set ends_at = greatest(e.ends_at, clock_timestamp() + make_interval(secs => e.seat_seconds))
    from locked l where e.license_id = l.license_id and e.device_id = l.device_id and not e.ended
    returning e.fence
  )
  insert into usage.seats_kept (kept_at) select clock_timestamp() from (select count(*) from extended) as done
  on conflict (one) do update set kept_at = excluded.kept_at`
