import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { keptUntil } from '../../src/domain/licenses/seat-files.ts'
import type { Standing } from '../../src/domain/licenses/status.ts'
import type { DeviceMail } from '../../src/domain/products/device-mails.ts'
import type { Entitling } from './entitlements.ts'
import {
  entitlementsOfKeyType,
  licenseOfKey,
  overridesOfCustomer,
  seatOfDevice,
  uncertainLicense,
} from './joins.ts'
import {
  type EntitlingColumns,
  entitlingFrom,
  type JoinedDevice,
  joinedDevice,
  type LicenseRow,
  licenseFrom,
  seatsIn,
} from './rows.ts'

/** A call to the runtime interface: the hashes of the license key, and the device that it names. */
export type RuntimeLookupParams = KeyHashes & {
  tenantId: string
  productId: string
  deviceId: string
  /** Other devices of the license whose seats are needed. */
  others?: readonly string[]
}

/** What was found for a license key, limited to what a verdict needs. */
export type KeyLookupResult =
  | { kind: 'no product' }
  | { kind: 'no license'; revalidateAfterSeconds: number }
  /** The license was reminted and has another key now. */
  | { kind: 'old key'; licenseId: string; revalidateAfterSeconds: number }
  | LicenseOfKey

export type LicenseOfKey = Entitling & {
  kind: 'license'
  licenseId: string
  revalidateAfterSeconds: number
  license: Pick<IssuedLicense, 'productId' | 'updatesUntil' | 'floating'> & Standing
  /** Whether the device has an active seat. */
  seated: boolean
  /** Whether it has the seat of another person than the one whose key was sent. */
  seatedByAnother: boolean
  /** Whether the key is of a person whose seat was taken from them. */
  withoutSeat: boolean
  /** Of the floating seat of the device, also of one that it lost; null for a device that never had one. */
  fence: number | null
  /** When the license file ends that keeps its seat taken, or has kept it; null without one. */
  fileEndsAt: string | null
  /** The license's or its customer's stream is parked, so the license's status is unknown. */
  uncertain: boolean
}

/** The same with the whole license. It has only the seat of the device, and those of the others. */
export type RuntimeLookupResult =
  | Exclude<KeyLookupResult, LicenseOfKey>
  | (LicenseOfKey & {
      license: IssuedLicense
      revision: number
      /** What the product tells its holder about devices; null for nothing. */
      deviceMails: readonly DeviceMail[] | null
      /** Whose key was sent; null for the key of the license. */
      personId: string | null
    })

type Row = {
  ordinal: string
  revalidate_after_seconds: number | null
  key_of: string
  current: boolean | null
  key_person_id: string | null
  without_seat: boolean
  uncertain: boolean
  device_mails: DeviceMail[] | null
} & EntitlingColumns &
  (LicenseRow | { license_id: null }) &
  JoinedDevice

/** Finds the license and seat for activate and deactivate. Concurrent lookups share one query. */
export function createRuntimeLookup(db: Pool): (params: RuntimeLookupParams) => Promise<RuntimeLookupResult> {
  return coalesce(async (lookups) => {
    const { rows } = await db.query<Row>({
      name: 'runtime-lookup',
      text: lookupSql,
      values: [
        lookups.map(({ tenantId }) => tenantId),
        lookups.map(({ productId }) => productId),
        lookups.map(({ keyHash }) => keyHash),
        lookups.map(({ keyedHash }) => keyedHash),
        lookups.map(({ deviceId }) => deviceId),
        lookups.map(({ others = [] }) => JSON.stringify(others)),
      ],
    })
    const rowsOfLookup = Map.groupBy(rows, ({ ordinal }) => Number(ordinal) - 1)
    return lookups.map(({ deviceId }, index) => resultFrom(rowsOfLookup.get(index) ?? [], deviceId))
  })
}

const lookupSql = `
  select q.ordinal, p.revalidate_after_seconds, p.device_mails, k.license_id as key_of, k.current, k.person_id as key_person_id,
    k.is_seated is not distinct from false as without_seat, l.*, ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${joinedDevice},
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
    with ordinality as q (tenant_id, product_id, key_hash, keyed_hash, device_id, others, ordinal)
  left join products p on p.tenant_id = q.tenant_id and p.product_id = q.product_id
  ${licenseOfKey}
  left join lateral (
    (${seatOfDevice})
    union all
    (
      select d.* from jsonb_array_elements_text(q.others) other
      join devices d on d.license_id = l.license_id and d.device_id = other and other <> q.device_id
    )
  ) d on true
  order by q.ordinal`

function resultFrom(rows: readonly Row[], deviceId: string): RuntimeLookupResult {
  const [row] = rows
  if (!row) throw new Error('the runtime lookup returned no row')
  const revalidateAfterSeconds = row.revalidate_after_seconds
  if (revalidateAfterSeconds === null) return { kind: 'no product' }
  if (row.current === false) return { kind: 'old key', licenseId: row.key_of, revalidateAfterSeconds }
  if (row.license_id === null) return { kind: 'no license', revalidateAfterSeconds }
  const seats = rows.flatMap((each) => (each.license_id === null ? [] : seatsIn(each)))
  const own = seats.find((seat) => seat.deviceId === deviceId)
  const personId = row.key_person_id
  const isOfKey = own?.personId === personId
  return {
    kind: 'license',
    licenseId: row.license_id,
    personId,
    revalidateAfterSeconds,
    license: licenseFrom(row, seats),
    revision: row.revision,
    deviceMails: row.device_mails,
    ...entitlingFrom(row),
    seated: own?.status === 'active' && isOfKey,
    seatedByAnother: own?.status === 'active' && !isOfKey,
    withoutSeat: row.without_seat,
    fence: own?.fence ?? null,
    fileEndsAt: keptUntil(own?.files ?? null),
    uncertain: row.uncertain,
  }
}
