import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { IssuedLicense, Seat } from '../../src/domain/licenses/license.ts'
import type { Entitling } from './entitlements.ts'
import { entitlementsOfKeyType, licenseOfKey, overridesOfCustomer, uncertainLicense } from './joins.ts'
import {
  devicesIn,
  type EntitlingColumns,
  entitlingFrom,
  type JoinedDevice,
  joinedDevice,
  type LicenseRow,
  licenseFrom,
  seatFrom,
} from './rows.ts'

/** A key that an app shows, and the instance of it that is asked about. */
export type InstanceLookupParams = {
  tenantId: string
  productId: string
  keyHash: string
  /** By the id that it was given, or by what it may be recognised by when it activates itself again. */
  instance: { instanceId: string } | { installId: string | null; name: string }
}

/** What a key stands for, to decide on; of the license's seats it holds the instance's alone. */
export type InstanceLookupResult =
  | { found: 'no license' }
  /** The key belonged to a license that has got another one since. */
  | { found: 'old key' }
  | FoundInstance

export type FoundInstance = Entitling & {
  found: 'license'
  license: IssuedLicense
  revision: number
  seat: Seat | undefined
  /** An event of this license or its customer could not be read, so nobody knows what it is good for. */
  uncertain: boolean
}

export type FindInstance = (question: InstanceLookupParams) => Promise<InstanceLookupResult>

type Row = { current: boolean | null; uncertain: boolean } & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  JoinedDevice

/** Answers what an app's activate and deactivate ask; questions of one moment share a query. */
export function createInstanceLookup(db: Pool): FindInstance {
  return coalesce(async (questions) => {
    const { rows } = await db.query<Row>({
      name: 'instance-lookup',
      text: lookup,
      values: [
        questions.map(({ tenantId }) => tenantId),
        questions.map(({ productId }) => productId),
        questions.map(({ keyHash }) => keyHash),
        questions.map(({ instance }) => ('instanceId' in instance ? instance.instanceId : null)),
        questions.map(({ instance }) => ('name' in instance ? instance.installId : null)),
        questions.map(({ instance }) => ('name' in instance ? instance.name : null)),
      ],
    })
    return rows.map(resultFrom)
  })
}

/** Of the seats that may be the instance's, the one that `sameDevice` would take. */
const lookup = `
  select k.current, l.*, ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${joinedDevice},
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    with ordinality as q (tenant_id, product_id, key_hash, instance_id, install_id, name, ordinal)
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
  if (row.current === false) return { found: 'old key' }
  if (row.license_id === null) return { found: 'no license' }
  const devices = devicesIn(row)
  return {
    found: 'license',
    license: licenseFrom(row, devices),
    revision: row.revision,
    ...entitlingFrom(row),
    seat: devices.map(seatFrom)[0],
    uncertain: row.uncertain,
  }
}
