import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense, Seat } from '../../src/domain/licenses/license.ts'
import type { Entitling } from './entitlements.ts'
import { entitlementsOfKeyType, licenseOfKey, overridesOfCustomer, uncertainLicense } from './joins.ts'
import {
  type EntitlingColumns,
  entitlingFrom,
  type JoinedDevice,
  joinedDevice,
  type LicenseRow,
  licenseFrom,
  seatsIn,
} from './rows.ts'

/** A license key, by its hashes, and the instance of the app that presents it. */
export type InstanceLookupParams = KeyHashes & {
  tenantId: string
  productId: string
  /** Its instance id; or, before it has one, the install id and name that identify a device activated before. */
  instance: { instanceId: string } | { installId: string | null; name: string }
}

/** What was found for a license key. The license has only the seat of the instance. */
export type InstanceLookupResult =
  | { kind: 'no license' }
  /** The license was reminted and has another key now. */
  | { kind: 'old key'; licenseId: string }
  | FoundInstance

export type FoundInstance = Entitling & {
  kind: 'license'
  license: IssuedLicense
  revision: number
  seat: Seat | undefined
  /** The license's or its customer's stream is parked, so the license's status is unknown. */
  uncertain: boolean
}

export type FindInstance = (params: InstanceLookupParams) => Promise<InstanceLookupResult>

type Row = { key_of: string; current: boolean | null; uncertain: boolean } & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  JoinedDevice

/** Finds the license and seat for an app's activate and deactivate. Concurrent lookups share one query. */
export function createInstanceLookup(db: Pool): FindInstance {
  return coalesce(async (lookups) => {
    const { rows } = await db.query<Row>({
      name: 'instance-lookup',
      text: lookupSql,
      values: [
        lookups.map(({ tenantId }) => tenantId),
        lookups.map(({ productId }) => productId),
        lookups.map(({ keyHash }) => keyHash),
        lookups.map(({ keyedHash }) => keyedHash),
        lookups.map(({ instance }) => ('instanceId' in instance ? instance.instanceId : null)),
        lookups.map(({ instance }) => ('name' in instance ? instance.installId : null)),
        lookups.map(({ instance }) => ('name' in instance ? instance.name : null)),
      ],
    })
    return rows.map(resultFrom)
  })
}

/** Of the seats that may belong to the instance, it takes the one that `sameDevice` takes. */
const lookupSql = `
  select k.license_id as key_of, k.current, l.*, ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${joinedDevice},
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    with ordinality as q (tenant_id, product_id, key_hash, keyed_hash, instance_id, install_id, name, ordinal)
  ${licenseOfKey}
  left join lateral (
    (select * from devices where instance_id = q.instance_id and license_id is not distinct from l.license_id)
    union all
    (
      select * from devices
      where license_id = l.license_id and install_id = q.install_id and status = 'active' limit 1
    )
    union all
    (select * from devices where license_id = l.license_id and name = q.name and status = 'active' limit 1)
    limit 1
  ) d on true
  order by q.ordinal`

function resultFrom(row: Row): InstanceLookupResult {
  if (row.current === false) return { kind: 'old key', licenseId: row.key_of }
  if (row.license_id === null) return { kind: 'no license' }
  const seats = seatsIn(row)
  return {
    kind: 'license',
    license: licenseFrom(row, seats),
    revision: row.revision,
    ...entitlingFrom(row),
    seat: seats[0],
    uncertain: row.uncertain,
  }
}
