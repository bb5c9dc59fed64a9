import type { Pool } from 'pg'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import type { Standing } from '../../src/domain/licenses/status.ts'
import { type Keyset, type PageOf, pageOf } from '../page.ts'
import { licensesOfCustomer } from './of-customer.ts'
import { type DeviceRow, type LicenseRow, seatFrom } from './rows.ts'

/** A device that is or was active on a license of the tenant. */
export type ListedDevice = {
  seat: Seat
  license: { licenseId: string; displayKey: string; productId: string } & Standing
}

/** A device is active while its license is valid; `deactivated` are those that gave their seat back. */
export type DeviceFilter = {
  productId?: string | undefined
  status?: Seat['status'] | undefined
  customerId?: string | undefined
}

type Row = DeviceRow &
  Pick<
    LicenseRow,
    | 'display_key'
    | 'product_id'
    | 'revoked_at'
    | 'suspended_at'
    | 'expires_at'
    | 'grace_seconds'
    | 'on_expiry'
  >

/** The SQL equivalent of `givesSeats` over `licenses l`. */
const givesSeatsAt = (now: string): string =>
  `(l.revoked_at is null and l.suspended_at is null
    and (l.ends_at is null or ${now} < l.ends_at or l.on_expiry = 'fallback'))`

/**
 * Lists devices by activation time, newest first; ties by license and id, descending.
 * @param now the moment at which licenses are valid
 */
export async function listDevicesOfTenant(
  db: Pool,
  tenantId: string,
  { productId, status, customerId }: DeviceFilter,
  { after, limit }: Keyset,
  now: string,
): Promise<PageOf<ListedDevice>> {
  const [licenseId, deviceId] = after ? keysetIdsFrom(after.id) : []
  const { rows } = await db.query<Row>(
    `select d.*, l.display_key, l.product_id, l.revoked_at, l.suspended_at, l.expires_at, l.grace_seconds, l.on_expiry from devices d join licenses l using (license_id)
     where d.tenant_id = $1
       and ($2::text is null or l.product_id = $2)
       and ($3::text is null or d.status = $3)
       and ($3::text is distinct from 'active' or ${givesSeatsAt('$8::timestamptz')})
       and ($9::text is null or d.license_id = any(${licensesOfCustomer('$1', '$9')}))
       and ($4::timestamptz is null or (d.activated_at, d.license_id, d.device_id) < ($4, $5, $6))
     order by d.activated_at desc, d.license_id desc, d.device_id desc limit $7`,
    [
      tenantId,
      productId ?? null,
      status ?? null,
      after?.createdAt ?? null,
      licenseId,
      deviceId,
      limit + 1,
      now,
      customerId ?? null,
    ],
  )
  const listed = rows.map((row) => ({
    seat: seatFrom(row),
    license: {
      licenseId: row.license_id,
      displayKey: row.display_key,
      productId: row.product_id,
      revokedAt: row.revoked_at,
      suspendedAt: row.suspended_at,
      expiresAt: row.expires_at,
      graceSeconds: row.grace_seconds,
      onExpiry: row.on_expiry,
    },
  }))
  return pageOf(listed, limit, ({ seat, license }) => ({
    createdAt: seat.activatedAt,
    id: `${license.licenseId} ${seat.deviceId}`,
  }))
}

/** Splits at the first space: a license's id has none, a device's id may. */
function keysetIdsFrom(id: string): [licenseId: string, deviceId: string] {
  const space = id.indexOf(' ')
  return [id.slice(0, space), id.slice(space + 1)]
}
