import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import {
  type FileState,
  type SeatFile,
  stateOfFile,
  withdrawnFiles,
} from '../../src/domain/licenses/seat-files.ts'
import { type DeviceRow, type LicenseRow, seatFrom } from './rows.ts'

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

/** The ids of a product's license files that must no longer be used although they have not ended; in order. */
export async function listWithdrawn(
  db: Pool,
  place: { tenantId: string; productId: string },
  now: string,
): Promise<string[]> {
  const { rows } = await db.query<
    Pick<LicenseRow, 'key_hash' | 'revoked_at' | 'suspended_at'> & { files: SeatFile[] }
  >({
    name: 'list-withdrawn',
    text: `select l.key_hash, l.revoked_at, l.suspended_at, d.files
           from devices d join licenses l on l.license_id = d.license_id
           where d.tenant_id = $1 and d.files is not null and l.product_id = $2`,
    values: [place.tenantId, place.productId],
  })
  return rows
    .flatMap(({ files, key_hash: keyHash, revoked_at: revokedAt, suspended_at: suspendedAt }) =>
      withdrawnFiles(files, { keyHash, revokedAt, suspendedAt }, now),
    )
    .map(({ fileId }) => fileId)
    .sort()
}
