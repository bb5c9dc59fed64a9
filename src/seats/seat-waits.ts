import type { Pool } from 'pg'

/** Who wants a floating seat of a license, by a hash of what tells takers apart. */
type Taker = { licenseId: string; waiter: string }

/** Who has a floating seat, and since when. */
type SeatHolder = { name: string; since: string }

/** What a taker is told that found no seat. */
export type Waiting = {
  /** Until the first of the seats may be free. */
  retryAfterSeconds: number
  /** How many takers were refused less than that ago, this one included. */
  waiting: number
  /** The first of those who have the seats; undefined where the product does not tell. */
  holders: SeatHolder[] | undefined
}

const maxHolders = 20

/** Notes that a taker found no seat, and says when to come again. It counts until then, whichever process it asks. */
export async function waitForSeat(
  db: Pool,
  { licenseId, waiter }: Taker,
  seatSeconds: number,
): Promise<Waiting> {
  const [noted, holders] = await Promise.all([
    db.query<{ seconds: number; waiting: number }>({
      name: 'wait-for-seat',
      text: waitSql,
      values: [licenseId, waiter, seatSeconds],
    }),
    db.query<{ shown: boolean; name: string | null; since: string }>({
      name: 'seat-holders',
      text: `select p.show_seat_holders as shown, d.name, d.activated_at as since
             from licenses l
             join products p on p.tenant_id = l.tenant_id and p.product_id = l.product_id
             left join lateral (
               select name, activated_at from devices
               where license_id = l.license_id and status = 'active' and p.show_seat_holders
               order by activated_at, device_id limit ${maxHolders}
             ) d on true
             where l.license_id = $1`,
      values: [licenseId],
    }),
  ])
  const [row] = noted.rows
  if (!row) throw new Error('a taker that waits is counted')
  return {
    retryAfterSeconds: row.seconds,
    waiting: row.waiting,
    holders: holders.rows[0]?.shown
      ? holders.rows.flatMap(({ name, since }) => (name === null ? [] : [{ name, since }]))
      : undefined,
  }
}

/** A taker that got a seat waits no longer. */
export async function stopWaiting(db: Pool, { licenseId, waiter }: Taker): Promise<void> {
  await db.query({
    name: 'stop-waiting-for-seat',
    text: 'delete from usage.seat_waits where license_id = $1 and waiter = $2',
    values: [licenseId, waiter],
  })
}

/** Deletes who does not wait any more. Rows of takers that wait again at this moment are left out. */
export const forgetWaits = (db: Pool) =>
  db.query({
    name: 'forget-seat-waits',
    text: `delete from usage.seat_waits where (license_id, waiter) in (
             select license_id, waiter from usage.seat_waits
             where until < clock_timestamp() for update skip locked
           )`,
  })

/** A seat whose end is not known lasts for one period. */
const waitSql = `
  with first as (
    select min(greatest(
      coalesce(e.ends_at, clock_timestamp() + make_interval(secs => $3::int)), d.file_ends_at
    )) as free_at
    from devices d left join usage.seat_ends e
      on e.license_id = d.license_id and e.device_id = d.device_id and e.fence = d.fence
    where d.license_id = $1 and d.status = 'active' and d.fence is not null
  ),
  due as (
    select greatest(1, least($3::int, coalesce(
      ceil(extract(epoch from free_at - clock_timestamp())), $3::int
    )))::int as seconds
    from first
  ),
  own as (
    insert into usage.seat_waits as w (license_id, waiter, until)
    select $1, $2, clock_timestamp() + make_interval(secs => seconds) from due
    on conflict (license_id, waiter) do update set until = excluded.until
    returning 1
  )
  select due.seconds, (
    (select count(*) from own) + (
      select count(*) from usage.seat_waits where license_id = $1 and waiter <> $2 and until > clock_timestamp()
    )
  )::int as waiting
  from due`
