import type { Pool } from 'pg'
import { licensesOfCustomer } from '../../projections/licenses/of-customer.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../../projections/page.ts'
import type { CallName, RefusedCall } from './refusals.ts'

/** Refused calls of one kind, of a device on a license, for one reason. */
export type Refusal = {
  licenseId: string
  displayKey: string
  productId: string
  /** Empty for calls that named no device. */
  deviceId: string
  deviceName: string | null
  call: CallName
  reason: string
  interface: RefusedCall['interface']
  appVersion: string | null
  sdkVersion: string | null
  platform: string | null
  count: number
  firstSeenAt: string
  lastSeenAt: string
}

export type RefusalFilter = {
  licenseId?: string | undefined
  customerId?: string | undefined
  productId?: string | undefined
  call?: string | undefined
  reason?: string | undefined
}

type Row = Omit<Refusal, 'count'> & { refused: bigint }

/** Lists a tenant's refusals of licenses, the newest first. */
export async function listRefusals(
  db: Pool,
  tenantId: string,
  { licenseId, customerId, productId, call, reason }: RefusalFilter,
  { after, limit, order }: Keyset,
): Promise<PageOf<Refusal>> {
  const at = orderOf(
    order,
    'r.last_seen_at',
    `r.license_id || ' ' || r.call || ' ' || r.reason || ' ' || r.device_id`,
  )
  const { rows } = await db.query<Row>(
    `select r.license_id as "licenseId", l.display_key as "displayKey", r.product_id as "productId",
       r.device_id as "deviceId", coalesce(d.name, r.device_name) as "deviceName", r.call, r.reason, r.interface,
       r.app_version as "appVersion", r.sdk_version as "sdkVersion", r.platform, r.refused,
       r.first_seen_at as "firstSeenAt", r.last_seen_at as "lastSeenAt"
     from usage.refusals r
     join licenses l on l.license_id = r.license_id
     left join lateral (
       select name from devices d
       where d.license_id = r.license_id and r.device_id in (d.device_id, d.instance_id, d.install_id, d.name) limit 1
     ) d on true
     where r.tenant_id = $1
       and ($2::text is null or r.license_id = $2) and ($3::text is null or r.product_id = $3)
       and ($4::text is null or r.call = $4) and ($5::text is null or r.reason = $5)
       and ($9::text is null or r.license_id = any(${licensesOfCustomer('$1', '$9')}))
       and ($6::timestamptz is null or ${at.past('$6', '$7')})
     order by ${at.by} limit $8`,
    [
      tenantId,
      licenseId ?? null,
      productId ?? null,
      call ?? null,
      reason ?? null,
      after?.createdAt ?? null,
      after?.id ?? null,
      limit + 1,
      customerId ?? null,
    ],
  )
  const refusals = rows.map(({ refused, ...row }) => ({ ...row, count: Number(refused) }))
  return pageOf(refusals, limit, ({ lastSeenAt, licenseId: id, call: of, reason: why, deviceId }) => ({
    createdAt: lastSeenAt,
    id: `${id} ${of} ${why} ${deviceId}`,
  }))
}

/** The newest refusal of each of these devices; the key is the license's id, a space and the device's id. */
export async function lastRefusalsOf(
  db: Pool,
  devices: readonly { licenseId: string; deviceId: string }[],
): Promise<ReadonlyMap<string, Pick<Refusal, 'reason' | 'call' | 'lastSeenAt' | 'count'>>> {
  const { rows } = await db.query<{
    licenseId: string
    deviceId: string
    reason: string
    call: CallName
    lastSeenAt: string
    refused: bigint
  }>(
    `select d.license_id as "licenseId", d.device_id as "deviceId", r.reason, r.call,
       r.last_seen_at as "lastSeenAt", r.refused
     from unnest($1::text[], $2::text[]) as q (license_id, device_id)
     join devices d using (license_id, device_id)
     join lateral (
       select * from usage.refusals r
       where r.license_id = d.license_id and r.device_id in (d.device_id, d.instance_id, d.install_id, d.name)
       order by last_seen_at desc limit 1
     ) r on true`,
    [devices.map(({ licenseId }) => licenseId), devices.map(({ deviceId }) => deviceId)],
  )
  return new Map(
    rows.map(({ licenseId, deviceId, refused, ...rest }) => [
      `${licenseId} ${deviceId}`,
      { ...rest, count: Number(refused) },
    ]),
  )
}

/** The refused calls of a product in one day. */
export type RefusedOfDay = {
  day: string
  productId: string
  call: CallName
  reason: string
  count: number
}

/** Lists refused calls by day, newest day first. */
export async function listRefusedByDay(
  db: Pool,
  tenantId: string,
  productId: string | undefined,
  { after, limit, order }: Keyset,
): Promise<PageOf<RefusedOfDay>> {
  const at = orderOf(order, 'day', `product_id || ' ' || call || ' ' || reason`)
  const { rows } = await db.query<Omit<RefusedOfDay, 'count'> & { refused: bigint }>(
    `select day, product_id as "productId", call, reason, refused from usage.refused_calls
     where tenant_id = $1 and ($2::text is null or product_id = $2)
       and ($3::timestamptz is null or ${at.past('$3', '$4')})
     order by ${at.by} limit $5`,
    [tenantId, productId ?? null, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  const days = rows.map(({ refused, ...row }) => ({ ...row, count: Number(refused) }))
  return pageOf(days, limit, ({ day, productId: of, call, reason }) => ({
    createdAt: day,
    id: `${of} ${call} ${reason}`,
  }))
}

/** Counts the refused calls of a day by reason, the most frequent first. */
export async function countRefused(
  db: Pool,
  tenantId: string,
  call: CallName,
  day: string,
): Promise<{ reason: string; count: number }[]> {
  const { rows } = await db.query<{ reason: string; refused: bigint }>({
    name: 'count-refused',
    text: `select reason, sum(refused)::bigint as refused from usage.refused_calls
           where tenant_id = $1 and day = date_trunc('day', $2::timestamptz, 'UTC') and call = $3
           group by reason order by 2 desc, 1`,
    values: [tenantId, day, call],
  })
  return rows.map(({ reason, refused }) => ({ reason, count: Number(refused) }))
}

/** An unknown key in one day; an empty `displayKey` stands for all keys beyond the number that is kept. */
export type UnknownKey = {
  day: string
  productId: string
  displayKey: string
  count: number
  firstSeenAt: string
  lastSeenAt: string
}

/** Lists unknown keys by the day of their calls, the newest first. */
export async function listUnknownKeys(
  db: Pool,
  tenantId: string,
  productId: string | undefined,
  { after, limit, order }: Keyset,
): Promise<PageOf<UnknownKey>> {
  const at = orderOf(order, 'last_seen_at', `product_id || ' ' || display_key`)
  const { rows } = await db.query<Omit<UnknownKey, 'count'> & { refused: bigint }>(
    `select day, product_id as "productId", display_key as "displayKey", refused, first_seen_at as "firstSeenAt",
       last_seen_at as "lastSeenAt"
     from usage.unknown_keys
     where tenant_id = $1 and ($2::text is null or product_id = $2)
       and ($3::timestamptz is null or ${at.past('$3', '$4')})
     order by ${at.by} limit $5`,
    [tenantId, productId ?? null, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  )
  const keys = rows.map(({ refused, ...row }) => ({ ...row, count: Number(refused) }))
  return pageOf(keys, limit, ({ lastSeenAt, productId: of, displayKey }) => ({
    createdAt: lastSeenAt,
    id: `${of} ${displayKey}`,
  }))
}

/** All refused calls with unknown keys of one masked form. */
export type RefusedUnknownKey = Omit<UnknownKey, 'day'>

/** How often keys with this masked form were refused, by product. */
export async function findUnknownKeys(
  db: Pool,
  tenantId: string,
  displayKey: string,
): Promise<RefusedUnknownKey[]> {
  const { rows } = await db.query<Omit<UnknownKey, 'day' | 'count'> & { refused: bigint }>(
    `select product_id as "productId", display_key as "displayKey", sum(refused)::bigint as refused,
       min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
     from usage.unknown_keys where tenant_id = $1 and display_key = $2
     group by product_id, display_key order by max(last_seen_at) desc limit 20`,
    [tenantId, displayKey],
  )
  return rows.map(({ refused, ...row }) => ({ ...row, count: Number(refused) }))
}
