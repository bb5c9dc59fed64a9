import type { Pool } from 'pg'
import { type SeatFile, withdrawnFiles } from '../../src/domain/licenses/seat-files.ts'
import { type DeviceRow, type LicenseRow, licenseFrom, seatFrom } from './rows.ts'

/** A license file, and the device that it was made for. */
export type ListedFile = SeatFile & { deviceId: string; instanceId: string; deviceName: string }

/** The license files of a license, newest first; those that ended and no longer count are left out. */
export async function listFiles(db: Pool, tenantId: string, licenseId: string): Promise<ListedFile[]> {
  const { rows } = await db.query<DeviceRow>({
    name: 'list-files',
    text: 'select * from devices where tenant_id = $1 and license_id = $2 and files is not null',
    values: [tenantId, licenseId],
  })
  return rows
    .map(seatFrom)
    .flatMap(({ files, deviceId, instanceId, name }) =>
      (files ?? []).map((file) => ({ ...file, deviceId, instanceId, deviceName: name })),
    )
    .sort((one, other) => other.serial - one.serial)
}

/** The ids of a product's license files that must no longer be used although they have not ended; in order. */
export async function listWithdrawn(
  db: Pool,
  place: { tenantId: string; productId: string },
  now: string,
): Promise<string[]> {
  const { rows } = await db.query<LicenseRow & { device_files: SeatFile[] }>({
    name: 'list-withdrawn',
    text: `select l.*, d.files as device_files from devices d join licenses l on l.license_id = d.license_id
           where d.tenant_id = $1 and d.files is not null and l.product_id = $2`,
    values: [place.tenantId, place.productId],
  })
  return rows
    .flatMap((row) => withdrawnFiles(row.device_files, licenseFrom(row, []), now))
    .map(({ fileId }) => fileId)
    .sort()
}
