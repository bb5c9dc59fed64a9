import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { type FileState, type SeatFile, stateOfFile } from '../../src/domain/licenses/seat-files.ts'
import { type DeviceRow, seatFrom } from './rows.ts'

/** A license file with what it is worth, and the device that it was made for. */
type ListedFile = SeatFile & {
  state: FileState
  deviceId: string
  instanceId: string
  deviceName: string
}

/** The license files of a license, newest first; those that ended and no longer count are left out. */
export async function listFiles(db: Pool, license: IssuedLicense, now: string): Promise<ListedFile[]> {
  const { rows } = await db.query<DeviceRow>({
    name: 'list-files',
    text: 'select * from devices where tenant_id = $1 and license_id = $2 and files is not null',
    values: [license.tenantId, license.licenseId],
  })
  return rows
    .map(seatFrom)
    .flatMap(({ files, deviceId, instanceId, name }) =>
      (files ?? []).map((file) => ({
        ...file,
        state: stateOfFile(file, license, files ?? [], now),
        deviceId,
        instanceId,
        deviceName: name,
      })),
    )
    .sort((one, other) => other.serial - one.serial)
}

/** Whether an instance of an app has or had a seat on a license. */
export async function hasInstance(db: Pool, licenseId: string, instanceId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has-instance',
    text: 'select from devices where instance_id = $1 and license_id = $2',
    values: [instanceId, licenseId],
  })
  return rowCount === 1
}
