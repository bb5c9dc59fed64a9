import type { Pool } from 'pg'
import { type SeatFile, withdrawnFiles } from '../../src/domain/licenses/seat-files.ts'

/** Of licenses and devices that withdraw files: most have none, and are in no index. */
export const withdrawingLicenses =
  '(tenant_id, product_id, withdrawn_until) where withdrawn_until is not null'
export const withdrawingDevices = '(tenant_id, withdrawn_until) where withdrawn_until is not null'

type Row = { key_hash: string; revoked_at: string | null; suspended_at: string | null; files: SeatFile[] }

/**
 * The ids of a product's license files that must no longer be used although they have not ended; in order. A device withdraws
 * files of its own, and a license all of them or those for a former key.
 */
export async function listWithdrawn(
  db: Pool,
  place: { tenantId: string; productId: string },
  now: string,
): Promise<string[]> {
  const { rows } = await db.query<Row>({
    name: 'list-withdrawn',
    text: `select l.key_hash, l.revoked_at, l.suspended_at, d.files
           from devices d join licenses l on l.license_id = d.license_id
           where d.tenant_id = $1 and d.withdrawn_until > $3 and l.product_id = $2
           union all
           select l.key_hash, l.revoked_at, l.suspended_at, d.files
           from licenses l join devices d on d.license_id = l.license_id
           where l.tenant_id = $1 and l.product_id = $2 and l.withdrawn_until > $3
             and d.files is not null and (d.withdrawn_until is null or d.withdrawn_until <= $3)`,
    values: [place.tenantId, place.productId, now],
  })
  return rows
    .flatMap(({ files, key_hash: keyHash, revoked_at: revokedAt, suspended_at: suspendedAt }) =>
      withdrawnFiles(files, { keyHash, revokedAt, suspendedAt }, now),
    )
    .map(({ fileId }) => fileId)
    .sort()
}
