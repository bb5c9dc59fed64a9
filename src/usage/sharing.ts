import type { Pool } from 'pg'
import type { Finding } from '../domain/licenses/sharing.ts'

/** How long it is kept from where seats were used. */
const keptDays = 30

/** A license that was used beyond rules of its product and not noticed for it yet. */
export type DueSharing = { licenseId: string; suspend: boolean; findings: readonly Finding[] }

type Wanted = { now: string; except: readonly string[]; most: number }

/** Licenses of products with a rule, with what was counted of them. */
const noticed = (rule: string) => `l.sharing->'noticed'->${rule}->>'day'`

/** Of what was counted: that which is beyond its limit and not noticed, of licenses that can be noticed. */
const isDue = `
  f.count > f.most and l.revoked_at is null and l.suspended_at is null
  and (l.sharing->>'allowed')::boolean is not true
  and coalesce(${noticed('f.rule')}, '') < f.day
  and l.license_id <> all($2) and 'license-' || l.license_id <> all (array(select stream from parked))`

/** One row a license. */
const asDue = `
  select l.license_id as "licenseId", bool_or(p.key_sharing->>'action' = 'suspend') as suspend,
    json_agg(json_build_object('rule', f.rule, 'count', f.count, 'limit', f.most, 'day', f.day) order by f.day, f.rule) as findings`

/** The day before as well: what is used around midnight is written after it. */
const placesSql = `
  with seats as (
    select day, license_id, device_id, count(*) as networks, count(distinct country) as countries
    from usage.sightings where day >= ($1::timestamptz at time zone 'UTC')::date - 1
    group by day, license_id, device_id
  ), used as (
    select day, license_id, max(networks)::int as networks,
      coalesce(max(countries) filter (where device_id <> ''), 0)::int as countries
    from seats group by day, license_id
  )
  ${asDue}
  from used u
  join licenses l using (license_id)
  join products p on p.tenant_id = l.tenant_id and p.product_id = l.product_id
  cross join lateral (values
    ('networks', u.networks, (p.key_sharing->>'networksPerDay')::int, u.day::text),
    ('countries', u.countries, (p.key_sharing->>'countriesPerDay')::int, u.day::text)
  ) as f (rule, count, most, day)
  where ${isDue}
  group by l.license_id limit $3`

/**
 * A move is an activation that follows directly on the deactivation of another device. Floating seats go from device to device by
 * themselves.
 */
const hopsSql = `
  with recent as (
    select distinct l.license_id
    from products p
    join devices d on d.tenant_id = p.tenant_id and d.activated_at > $1::timestamptz - interval '168 hours'
    join licenses l on l.license_id = d.license_id and l.product_id = p.product_id and l.floating is null
    where p.key_sharing->'hopsPerWeek' is not null
  ), moves as (
    select h.license_id, h.type = 'DeviceActivated' and lag(h.type) over before = 'DeviceDeactivated'
      and lag(h.data->>'deviceId') over before <> h.data->>'deviceId' as is_hop
    from recent join license_history h using (license_id)
    where h.type in ('DeviceActivated', 'DeviceDeactivated') and h.moment > $1::timestamptz - interval '168 hours'
    window before as (partition by h.license_id order by h.revision)
  ), hops as (select license_id, count(*)::int as count from moves where is_hop group by license_id)
  ${asDue}
  from hops
  join licenses l using (license_id)
  join products p on p.tenant_id = l.tenant_id and p.product_id = l.product_id
  cross join lateral (
    select 'hops' as rule, hops.count, (p.key_sharing->>'hopsPerWeek')::int as most,
      (($1::timestamptz at time zone 'UTC')::date)::text as day
  ) f
  where ${isDue}
  group by l.license_id limit $3`

const listDue = async (db: Pool, name: string, text: string, { now, except, most }: Wanted) =>
  (await db.query<DueSharing>({ name, text, values: [now, except, most] })).rows

/** Licenses of which a seat was used from more networks or countries than their product allows, today or yesterday. */
export const listSharedPlaces = (db: Pool, wanted: Wanted): Promise<DueSharing[]> =>
  listDue(db, 'list-shared-places', placesSql, wanted)

/** Licenses whose seats moved to other devices more often than their product allows, in the last 7 days. */
export const listSharedSeats = (db: Pool, wanted: Wanted): Promise<DueSharing[]> =>
  listDue(db, 'list-shared-seats', hopsSql, wanted)

/** Deletes from where seats were used more than 30 days ago. */
export async function forgetSightings(db: Pool, now: string): Promise<void> {
  await db.query({
    name: 'forget-sightings',
    text: `delete from usage.sightings where day < ($1::timestamptz at time zone 'UTC')::date - ${keptDays - 1}`,
    values: [now],
  })
}

/** From how many places the seats of a license were used on a day: those of the seat with most of them. */
export type PlacesOfDay = { day: string; networks: number; countries: number }

/** Newest first; days on which it was not used, or not counted, are left out. */
export async function readPlaces(db: Pool, licenseId: string): Promise<PlacesOfDay[]> {
  const { rows } = await db.query<PlacesOfDay>({
    name: 'read-places',
    text: `select day::text, max(networks)::int as networks, max(countries)::int as countries
           from (
             select day, device_id, count(*) as networks, count(distinct country) as countries
             from usage.sightings where license_id = $1 group by day, device_id
           ) seats
           group by day order by day desc`,
    values: [licenseId],
  })
  return rows
}
