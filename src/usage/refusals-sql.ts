import type { Pool } from 'pg'
import { inTransaction } from '../../projections/database/transaction.ts'
import { seatUseKeptDays } from '../../projections/seats/minutes.ts'

/** What a batch adds to one row: of the calls of a day, of a license's device, of its seats in a minute, or of an unknown key. */
export type RefusalRow = {
  kind: 'calls' | 'license' | 'seat' | 'key'
  tenant_id: string
  product_id: string
  /** Of a seat, its minute. */
  day: string
  call: string
  reason: string
  interface: string
  license_id: string
  device_id: string
  device_name: string | null
  app_version: string | null
  sdk_version: string | null
  platform: string | null
  display_key: string
  refused: number
  first_seen_at: string
  last_seen_at: string
}

/** Further unknown keys of a product and day are counted together. */
export const maxKeysOfDay = 200
/** Of a license's devices, calls and reasons the newest are kept; so for a tenant. */
export const maxOfLicense = 50
const maxOfTenant = 10_000
const refusalsKeptDays = 90

const dayMs = 86_400_000

/**
 * Adds a batch to the four tables. Callers of the runtime interface may name a product that does not exist, and such
 * rows are left out. Seats count only where they float. Every statement writes in the order of the keys, so that processes do not deadlock.
 */
export const addRefusals = {
  name: 'add-refusals',
  text: `,
  reported as materialized (
    select t.* from json_to_recordset($1) as t (
      kind text, tenant_id text, product_id text, day timestamptz, call text, reason text, interface text,
      license_id text, device_id text, device_name text, app_version text, sdk_version text, platform text,
      display_key text, refused bigint, first_seen_at timestamptz, last_seen_at timestamptz
    )
    join products p on p.tenant_id = t.tenant_id and p.product_id = t.product_id
    where exists (select from fresh)
  ),
  calls as (
    insert into usage.refused_calls as c
    select tenant_id, product_id, day, call, reason, refused from reported where kind = 'calls'
    order by tenant_id, day, product_id, call, reason
    on conflict (tenant_id, day, product_id, call, reason) do update set refused = c.refused + excluded.refused
  ),
  of_licenses as (
    insert into usage.refusals as r
    select tenant_id, product_id, license_id, device_id, call, reason, device_name, interface, app_version,
      sdk_version, platform, refused, first_seen_at, last_seen_at
    from reported t
    where kind = 'license' and not exists (
      select from usage.forgotten_refusals f where f.license_id = t.license_id and f.at >= t.last_seen_at
    )
    order by license_id, device_id, call, reason
    on conflict (license_id, device_id, call, reason) do update set
      device_name = coalesce(excluded.device_name, r.device_name), interface = excluded.interface,
      app_version = coalesce(excluded.app_version, r.app_version),
      sdk_version = coalesce(excluded.sdk_version, r.sdk_version),
      platform = coalesce(excluded.platform, r.platform),
      refused = r.refused + excluded.refused,
      first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at)
  ),
  denied as (
    insert into usage.denied_takings as d
    select license_id, day, refused from reported t
    where kind = 'seat' and exists (
      select from licenses l
      where l.license_id = t.license_id and l.tenant_id = t.tenant_id and l.floating is not null
    )
    order by license_id, day
    on conflict (license_id, minute) do update set denied = d.denied + excluded.denied
  ),
  kept as (
    select k.tenant_id, k.product_id, k.day, count(*) as keys, array_agg(k.display_key) as display_keys
    from (select distinct tenant_id, product_id, day from reported where kind = 'key') d
    join usage.unknown_keys k using (tenant_id, product_id, day)
    group by k.tenant_id, k.product_id, k.day
  ),
  keys as (
    select t.*, coalesce(k.keys, 0) as keys, t.display_key = any(k.display_keys) is true as known
    from reported t left join kept k using (tenant_id, product_id, day) where t.kind = 'key'
  ),
  masked as (
    select keys.*, case
      when known or keys + row_number() over (partition by tenant_id, product_id, day, known order by last_seen_at)
        <= ${maxKeysOfDay} then display_key else '' end as shown
    from keys
  )
  insert into usage.unknown_keys as k
  select tenant_id, product_id, day, shown, sum(refused), min(first_seen_at), max(last_seen_at) from masked
  group by tenant_id, product_id, day, shown
  order by tenant_id, product_id, day, shown
  on conflict (tenant_id, product_id, day, display_key) do update set
    refused = k.refused + excluded.refused,
    first_seen_at = least(k.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(k.last_seen_at, excluded.last_seen_at)`,
}

/** Of the given tenants, deletes the oldest refusals beyond the limits; of all tenants, what is too old. */
export async function trimRefusals(db: Pool, tenants: readonly string[], now: Date): Promise<void> {
  const since = new Date(now.getTime() - refusalsKeptDays * dayMs)
  for (const tenantId of tenants) {
    await db.query({
      name: 'trim-refusals',
      text: `
        delete from usage.refusals where ctid in (
          select ctid from (
            select ctid, row_number() over (order by last_seen_at desc) as place,
              row_number() over (partition by license_id order by last_seen_at desc) as place_in_license
            from usage.refusals where tenant_id = $1
          ) placed
          where place > $2 or place_in_license > $3
        )`,
      values: [tenantId, maxOfTenant, maxOfLicense],
    })
  }
  await db.query('delete from usage.refusals where last_seen_at < $1', [since])
  await db.query('delete from usage.unknown_keys where last_seen_at < $1', [since])
  await db.query('delete from usage.denied_takings where minute < $1', [
    new Date(now.getTime() - seatUseKeptDays * dayMs),
  ])
  // By then every process has written what it had in memory.
  await db.query('delete from usage.forgotten_refusals where at < $1', [new Date(now.getTime() - dayMs)])
}

/** The lock waits for batches that are being written; later ones find the licenses forgotten. */
export async function forgetRefusals(db: Pool, licenseIds: readonly string[], now: Date): Promise<void> {
  await inTransaction(db, async (client) => {
    await client.query('lock table usage.refusals in share row exclusive mode')
    await client.query({
      text: `insert into usage.forgotten_refusals (license_id, at)
             select distinct id, $2::timestamptz from unnest($1::text[]) as id
             on conflict (license_id) do update set at = excluded.at`,
      values: [licenseIds, now],
    })
    await client.query('delete from usage.refusals where license_id = any($1)', [licenseIds])
  })
}
