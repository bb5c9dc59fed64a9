import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { Entitling } from './entitlements.ts'
import {
  deviceOfLicense,
  entitlementsOfKeyType,
  licenseOfKey,
  overridesOfCustomer,
  uncertainLicense,
} from './joins.ts'
import {
  devicesIn,
  type EntitlingColumns,
  entitlingFrom,
  type JoinedDevice,
  joinedDevice,
  type LicenseRow,
  licenseFrom,
} from './rows.ts'

/** A question of the runtime interface: the key that somebody showed, and the device that it is for. */
export type RuntimeLookupParams = { tenantId: string; productId: string; keyHash: string; deviceId: string }

/** What a key stands for, as far as a verdict on it needs. */
export type KeyLookupResult =
  | { found: 'no product' }
  | { found: 'no license'; revalidateAfterSeconds: number }
  /** The key belonged to a license that has got another one since. */
  | { found: 'old key'; revalidateAfterSeconds: number }
  | LicenseOfKey

export type LicenseOfKey = Entitling & {
  found: 'license'
  revalidateAfterSeconds: number
  license: Pick<IssuedLicense, 'productId' | 'revokedAt' | 'expiresAt' | 'onExpiry'>
  /** The device asked about has an active seat. */
  seated: boolean
  /** An event of this license or its customer could not be read, so nobody knows what it is good for. */
  uncertain: boolean
}

/** The same with the license whole, to decide on; it holds no seat but the device's own. */
export type RuntimeLookupResult =
  | Exclude<KeyLookupResult, LicenseOfKey>
  | (LicenseOfKey & { license: IssuedLicense; revision: number })

type Row = {
  revalidate_after_seconds: number | null
  current: boolean | null
  uncertain: boolean
} & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  JoinedDevice

/** Answers what activate and deactivate ask; questions of one moment share a query on one connection. */
export function createRuntimeLookup(
  db: Pool,
): (question: RuntimeLookupParams) => Promise<RuntimeLookupResult> {
  return coalesce(async (questions) => {
    const { rows } = await db.query<Row>({
      name: 'runtime-lookup',
      text: lookup,
      values: [
        questions.map(({ tenantId }) => tenantId),
        questions.map(({ productId }) => productId),
        questions.map(({ keyHash }) => keyHash),
        questions.map(({ deviceId }) => deviceId),
      ],
    })
    return rows.map(resultFrom)
  })
}

const lookup = `
  select p.revalidate_after_seconds, k.current, l.*, ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${joinedDevice},
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[])
    with ordinality as q (tenant_id, product_id, key_hash, device_id, ordinal)
  left join products p on p.tenant_id = q.tenant_id and p.product_id = q.product_id
  ${licenseOfKey}
  ${deviceOfLicense}
  order by q.ordinal`

function resultFrom(row: Row): RuntimeLookupResult {
  const revalidateAfterSeconds = row.revalidate_after_seconds
  if (revalidateAfterSeconds === null) return { found: 'no product' }
  if (row.current === false) return { found: 'old key', revalidateAfterSeconds }
  if (row.license_id === null) return { found: 'no license', revalidateAfterSeconds }
  return {
    found: 'license',
    revalidateAfterSeconds,
    license: licenseFrom(row, devicesIn(row)),
    revision: row.revision,
    ...entitlingFrom(row),
    seated: row.device_status === 'active',
    uncertain: row.uncertain,
  }
}
