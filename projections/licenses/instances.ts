import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { DeviceClaim, DeviceIdentity } from '../../src/domain/licenses/marks.ts'
import type { DeviceMail } from '../../src/domain/products/device-mails.ts'
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
  /** Its instance id; or, for an activation, all by which a device that has a seat may be recognized. */
  instance: { instanceId: string } | { claim: DeviceClaim & { name: string } }
  /** Other devices of the license whose seats are needed. */
  others?: readonly string[]
}

/** What was found for a license key. The license has only the seat of the instance, or those that may be the device's. */
export type InstanceLookupResult =
  | { kind: 'no license' }
  /** The license was reminted and has another key now. */
  | { kind: 'old key'; licenseId: string }
  | FoundInstance

export type FoundInstance = Entitling & {
  kind: 'license'
  license: IssuedLicense
  revision: number
  /** What the product tells its holder about devices; null for nothing. */
  deviceMails: readonly DeviceMail[] | null
  /** Whose key was sent; null for the key of the license. */
  personId: string | null
  /** The license's or its customer's stream is parked, so the license's status is unknown. */
  uncertain: boolean
}

export type FindInstance = (params: InstanceLookupParams) => Promise<InstanceLookupResult>

type Row = {
  ordinal: string
  key_of: string
  current: boolean | null
  key_person_id: string | null
  uncertain: boolean
  device_mails: DeviceMail[] | null
} & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  JoinedDevice

/** Finds the license and seat for an app's activate and deactivate. Concurrent lookups share one query. */
export function createInstanceLookup(db: Pool): FindInstance {
  return coalesce(async (lookups) => {
    const claims = lookups.map(({ instance }) => ('claim' in instance ? instance.claim : undefined))
    const { rows } = await db.query<Row>({
      name: 'instance-lookup',
      text: lookupSql,
      values: [
        lookups.map(({ tenantId }) => tenantId),
        lookups.map(({ productId }) => productId),
        lookups.map(({ keyHash }) => keyHash),
        lookups.map(({ keyedHash }) => keyedHash),
        lookups.map(({ instance }) =>
          'claim' in instance ? instance.claim.instanceId : instance.instanceId,
        ),
        claims.map((claim) => claim?.installId ?? null),
        claims.map((claim) => claim?.name ?? null),
        claims.map((claim) => JSON.stringify(claim?.identities.flatMap(partsOf) ?? [])),
        claims.map((claim) => JSON.stringify(claim?.identities.map(({ subjectId }) => subjectId) ?? [])),
        lookups.map(({ others = [] }) => JSON.stringify(others)),
      ],
    })
    const rowsOfLookup = Map.groupBy(rows, ({ ordinal }) => Number(ordinal) - 1)
    return lookups.map((_, index) => resultFrom(rowsOfLookup.get(index) ?? []))
  })
}

const partsOf = ({ subjectId, machine, components }: DeviceIdentity): object[] => [
  ...(machine === null ? [] : [{ subjectId, machine }]),
  ...Object.entries(components).map(([name, hash]) => ({ subjectId, components: { [name]: hash } })),
]

/** Finds every seat that {@link recognized} may choose from. */
const lookupSql = `
  select q.ordinal, p.device_mails, k.license_id as key_of, k.current, k.person_id as key_person_id, l.*, ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${joinedDevice},
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::jsonb[], $10::jsonb[])
    with ordinality as q (tenant_id, product_id, key_hash, keyed_hash, instance_id, install_id, name, parts, subjects, others, ordinal)
  left join products p on p.tenant_id = q.tenant_id and p.product_id = q.product_id
  ${licenseOfKey}
  left join lateral (
    (select * from devices where instance_id = q.instance_id and license_id is not distinct from l.license_id)
    union all
    (select * from devices where license_id = l.license_id and install_id = q.install_id and status = 'active')
    union all
    (
      select d.* from jsonb_array_elements(q.parts) part
      join devices d on d.identity @> part and d.status = 'active' and d.identity is not null
      where d.license_id is not distinct from l.license_id
    )
    union all
    (
      select * from devices
      where license_id = l.license_id and name = q.name and status = 'active'
        and install_id is null
        and (identity is null or identity ? 'imported' or not q.subjects ? (identity->>'subjectId'))
      order by identity is not null limit 1
    )
    union all
    (
      select d.* from jsonb_array_elements_text(q.others) other
      join devices d on d.license_id = l.license_id and d.device_id = other
    )
  ) d on true
  order by q.ordinal, d.activated_at, d.device_id`

function resultFrom(rows: readonly Row[]): InstanceLookupResult {
  const [row] = rows
  if (!row) return { kind: 'no license' }
  if (row.current === false) return { kind: 'old key', licenseId: row.key_of }
  if (row.license_id === null) return { kind: 'no license' }
  return {
    kind: 'license',
    license: licenseFrom(
      row,
      rows.flatMap((each) => (each.license_id === null ? [] : seatsIn(each))),
    ),
    revision: row.revision,
    deviceMails: row.device_mails,
    personId: row.key_person_id,
    ...entitlingFrom(row),
    uncertain: row.uncertain,
  }
}
