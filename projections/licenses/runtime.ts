import type { Pool } from 'pg'
import type { IssuedLicense } from '../../src/domain/license/license.ts'
import { coalesce } from '../coalesce.ts'
import type { Entitling } from './entitlements.ts'
import { type DeviceRow, type EntitlingColumns, entitlingFrom, type LicenseRow, licenseFrom } from './rows.ts'

/** A question of the runtime interface: the key that somebody showed, and the device that it is for. */
export type RuntimeQuestion = { tenantId: string; productId: string; keyHash: string; deviceId: string }

export type RuntimeFinding =
  | { found: 'no product' }
  | { found: 'no license'; revalidateAfterSeconds: number }
  /** The key belonged to a license that has got another one since. */
  | { found: 'old key'; revalidateAfterSeconds: number }
  | ({
      found: 'license'
      revalidateAfterSeconds: number
      /** With no seat but the device's own. */
      license: IssuedLicense
      revision: number
      /** An event of this license or its customer could not be read, so nobody knows what it is good for. */
      uncertain: boolean
    } & Entitling)

type Row = {
  revalidate_after_seconds: number | null
  current: boolean | null
  uncertain: boolean
  device_name: string | null
  device_status: DeviceRow['status']
} & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  (Omit<DeviceRow, 'name' | 'status' | 'license_id'> | { device_id: null })

/** Answers what validate, activate and deactivate ask; questions of one moment share a query on one connection. */
export function createRuntimeLookup(db: Pool): (question: RuntimeQuestion) => Promise<RuntimeFinding> {
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
    return rows.map(findingFrom)
  })
}

/** Few questions are planned afresh each time, and one more join would cost half as much again as all of this. */
const lookup = `
  select p.revalidate_after_seconds, k.current, l.*, t.entitlements, t.fallback_entitlements,
    (
      select c.overrides from customers c where c.customer_id = l.customer_id and c.tenant_id = l.tenant_id
    ) as overrides,
    d.device_id, d.instance_id, d.install_id, d.name as device_name, d.platform, d.status as device_status,
    d.activated_at, d.deactivated_at,
    exists (
      select from parked where stream in ('license-' || l.license_id, 'customer-' || l.customer_id)
    ) as uncertain
  from unnest($1::text[], $2::text[], $3::text[], $4::text[])
    with ordinality as q (tenant_id, product_id, key_hash, device_id, ordinal)
  left join products p on p.tenant_id = q.tenant_id and p.product_id = q.product_id
  left join license_keys k
    on k.tenant_id = q.tenant_id and k.product_id = q.product_id and k.key_hash = q.key_hash
  left join licenses l on l.license_id = k.license_id and k.current
  left join key_types t
    on t.tenant_id = l.tenant_id and t.product_id = l.product_id and t.key_type_id = l.key_type_id
  left join devices d on d.license_id = l.license_id and d.device_id = q.device_id
  order by q.ordinal`

function findingFrom(row: Row): RuntimeFinding {
  const revalidateAfterSeconds = row.revalidate_after_seconds
  if (revalidateAfterSeconds === null) return { found: 'no product' }
  if (row.current === false) return { found: 'old key', revalidateAfterSeconds }
  if (row.license_id === null) return { found: 'no license', revalidateAfterSeconds }
  return {
    found: 'license',
    revalidateAfterSeconds,
    license: licenseFrom(row, deviceOf(row)),
    revision: row.revision,
    ...entitlingFrom(row),
    uncertain: row.uncertain,
  }
}

/** The license and its device both have a name, so the device's come under other names. */
function deviceOf(row: Row & LicenseRow): DeviceRow[] {
  if (row.device_id === null) return []
  return [{ ...row, name: row.device_name ?? '', status: row.device_status }]
}
