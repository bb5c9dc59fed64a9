import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from '../page.ts'
import type { Entitling } from './entitlements.ts'
import { type LicenseFilter, partsMatching, Values } from './filter.ts'
import {
  type DeviceRow,
  type EntitlingColumns,
  entitlingFrom,
  type LicenseRow,
  licenseFrom,
  seatFrom,
} from './rows.ts'

/** A license for lists: without seats, with its current key type's entitlements and its customer's overrides. */
export type LicenseEntry = { license: IssuedLicense; revision: number } & Entitling

export type EntryRow = LicenseRow & EntitlingColumns

/** The columns of an entry for each row of `licenses`, a table or a query. */
export const entryOf = (licenses: string) => `
  select l.*, t.entitlements, t.fallback_entitlements, t.entitlement_values, c.overrides
  from ${licenses} l left join key_types t using (tenant_id, product_id, key_type_id)
    left join customers c on c.customer_id = l.customer_id and c.tenant_id = l.tenant_id`

const entry = entryOf('licenses')

export function entryFrom(row: EntryRow): LicenseEntry {
  return {
    license: licenseFrom(row, []),
    revision: row.revision,
    ...entitlingFrom(row),
  }
}

export async function findLicense(
  db: Pool,
  tenantId: string,
  licenseId: string,
): Promise<LicenseEntry | undefined> {
  const { rows } = await db.query<EntryRow>({
    name: 'find-license',
    text: `${entry} where l.tenant_id = $1 and l.license_id = $2`,
    values: [tenantId, licenseId],
  })
  return rows[0] && entryFrom(rows[0])
}

/** The licenses of a tenant with these ids, newest first. */
export async function findLicenses(
  db: Pool,
  tenantId: string,
  licenseIds: readonly string[],
): Promise<LicenseEntry[]> {
  if (licenseIds.length === 0) return []
  const { rows } = await db.query<EntryRow>({
    name: 'find-licenses',
    text: `${entry} where l.tenant_id = $1 and l.license_id = any($2)
           order by l.created_at desc, l.license_id desc`,
    values: [tenantId, licenseIds],
  })
  return rows.map(entryFrom)
}

/** Every device that is or was active on the license, oldest activation first. */
export async function listDevices(db: Pool, licenseId: string): Promise<Seat[]> {
  const { rows } = await db.query<DeviceRow>({
    name: 'list-devices',
    text: 'select * from devices where license_id = $1 order by activated_at, device_id',
    values: [licenseId],
  })
  return rows.map(seatFrom)
}

/** The active devices, oldest activation first. */
export async function listSeated(db: Pool, licenseId: string, limit: number): Promise<Seat[]> {
  const { rows } = await db.query<DeviceRow>({
    name: 'list-seated',
    text: `select * from devices where license_id = $1 and status = 'active'
           order by activated_at, device_id limit $2`,
    values: [licenseId, limit],
  })
  return rows.map(seatFrom)
}

/**
 * By age; ties by id.
 * @param now the moment at which statuses are computed
 */
export async function listLicenses(
  db: Pool,
  tenantId: string,
  filter: LicenseFilter,
  now: string,
  { after, limit, order }: Keyset,
): Promise<PageOf<LicenseEntry>> {
  const values = new Values()
  const { time, id, parts } = partsMatching(tenantId, filter, now, values)
  const { by, past } = orderOf(order, time, id)
  const start = after ? ` and ${past(values.add(after.createdAt), values.add(after.id))}` : ''
  const most = values.add(limit + 1)
  const pages = parts.map(
    ({ from, where }) => `(select l.* from ${from} where ${where}${start} order by ${by} limit ${most})`,
  )
  const { rows } = await db.query<EntryRow>(
    `${entryOf(`(${pages.join(' union all ')})`)}
     order by ${orderOf(order, 'l.created_at', 'l.license_id').by} limit ${most}`,
    values.all,
  )
  return pageOf(rows.map(entryFrom), limit, ({ license }) => ({
    createdAt: license.createdAt,
    id: license.licenseId,
  }))
}
