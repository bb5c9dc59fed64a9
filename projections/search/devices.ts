import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import { type JoinedDevice, joinedDevice, type LicenseRow, licenseFrom, seatsIn } from '../licenses/rows.ts'
import { lastCharacter } from './licenses.ts'

/** A device that is or was active on a license, with the license. */
export type FoundDevice = { license: IssuedLicense; seat: Seat }

const devicesFrom = (rows: readonly (LicenseRow & JoinedDevice)[]): FoundDevice[] =>
  rows.flatMap((row) => seatsIn(row).map((seat) => ({ license: licenseFrom(row, []), seat })))

/** Finds devices by device id or instance id, newest activation first. */
export async function findDevicesById(
  db: Pool,
  tenantId: string,
  id: string,
  most: number,
): Promise<FoundDevice[]> {
  const { rows } = await db.query<LicenseRow & JoinedDevice>({
    name: 'search-device-id',
    text: `select l.*, ${joinedDevice}
           from (
             (select * from devices where tenant_id = $1 and device_id = $2 order by activated_at desc limit $3)
             union
             (select * from devices where tenant_id = $1 and instance_id = $2 limit $3)
           ) d join licenses l on l.license_id = d.license_id
           order by d.activated_at desc, d.license_id desc limit $3`,
    values: [tenantId, id, most],
  })
  return devicesFrom(rows)
}

/** Finds devices whose id begins with a text, ordered by id. */
export async function findDevicesByIdStart(
  db: Pool,
  tenantId: string,
  start: string,
  most: number,
): Promise<FoundDevice[]> {
  const { rows } = await db.query<LicenseRow & JoinedDevice>({
    name: 'search-device-id-start',
    text: `select l.*, ${joinedDevice}
           from (
             select * from devices
             where tenant_id = $1 and device_id ~>=~ $2 and device_id ~<~ ($2 || $3)
             order by device_id using ~<~ limit $4
           ) d join licenses l on l.license_id = d.license_id
           order by d.device_id using ~<~, d.activated_at desc, d.license_id desc`,
    values: [tenantId, start, lastCharacter, most],
  })
  return devicesFrom(rows)
}

/** Finds devices whose name begins with a text, ignoring case, ordered by name. */
export async function findDevicesByName(
  db: Pool,
  tenantId: string,
  name: string,
  most: number,
): Promise<FoundDevice[]> {
  const { rows } = await db.query<LicenseRow & JoinedDevice>({
    name: 'search-device-name',
    text: `select l.*, ${joinedDevice}
           from (
             select * from devices
             where tenant_id = $1 and lower(name) ~>=~ lower($2) and lower(name) ~<~ (lower($2) || $3)
             order by lower(name) using ~<~ limit $4
           ) d join licenses l on l.license_id = d.license_id
           order by lower(d.name) using ~<~, d.activated_at desc, d.license_id desc`,
    values: [tenantId, name, lastCharacter, most],
  })
  return devicesFrom(rows)
}
