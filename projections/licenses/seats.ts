import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import { type JoinedDevice, joinedDevice, type LicenseRow, licenseFrom, seatsIn } from './rows.ts'

/** A device, by the caller's id for it or by its instance id. */
export type DeviceRef = { deviceId: string } | { instanceId: string }

/** A license with one of its seats, read in one query. */
export type SeatEntry = { license: IssuedLicense; revision: number; seat: Seat | undefined }

/** A tenant's license with one device. The seat is undefined when the device was never active on the license. */
export async function findSeat(
  db: Pool,
  tenantId: string,
  licenseId: string,
  name: DeviceRef,
): Promise<SeatEntry | undefined> {
  const deviceId = 'deviceId' in name ? name.deviceId : null
  const instanceId = 'instanceId' in name ? name.instanceId : null
  const { rows } = await db.query<LicenseRow & JoinedDevice>({
    name: 'find-seat',
    text: `select l.*, ${joinedDevice}
           from licenses l left join devices d
             on d.license_id = l.license_id and (d.device_id = $3 or d.instance_id = $4)
           where l.tenant_id = $1 and l.license_id = $2`,
    values: [tenantId, licenseId, deviceId, instanceId],
  })
  const [row] = rows
  if (!row) return undefined
  const seats = seatsIn(row)
  return { license: licenseFrom(row, seats), revision: row.revision, seat: seats[0] }
}

/** A tenant's license with these devices alone. */
export async function findSeats(
  db: Pool,
  { tenantId, licenseId }: { tenantId: string; licenseId: string },
  deviceIds: readonly string[],
): Promise<Omit<SeatEntry, 'seat'> | undefined> {
  const { rows } = await db.query<LicenseRow & JoinedDevice>({
    name: 'find-seats',
    text: `select l.*, ${joinedDevice}
           from licenses l left join devices d on d.license_id = l.license_id and d.device_id = any($3)
           where l.tenant_id = $1 and l.license_id = $2`,
    values: [tenantId, licenseId, deviceIds],
  })
  const [row] = rows
  return row && { license: licenseFrom(row, rows.flatMap(seatsIn)), revision: row.revision }
}
