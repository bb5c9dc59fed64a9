import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { LicenseMoments } from '../../src/domain/meters/period.ts'
import { type MeterTerms, type SharedMeter, usualThresholds } from '../../src/domain/meters/terms.ts'
import { licenseOfKey, metersOfCustomer, seatOfDevice } from '../licenses/joins.ts'
import type { KeyLookupResult } from '../licenses/runtime.ts'
import { type KeyAndDeviceRow, keyAndDevice, keyResultFrom } from '../licenses/validate.ts'

/** What of a license says what its meters allow. */
export type Metering = {
  tenantId: string
  productId: string
  licenseId: string
  moments: LicenseMoments
  /** Its own, by its key type. */
  meters: readonly MeterTerms[]
  /** What it shares with the other licenses of its customer; undefined where that is nothing. */
  shared: SharedMeters | undefined
}

/** What the licenses of a customer share. */
export type SharedMeters = { tenantId: string; customerId: string; meters: readonly SharedMeter[] }

/** A call about a license key. The device is named by its own id or as an instance; null where it is not named so. */
type MeteredQuestion = KeyHashes & {
  tenantId: string
  productId: string
  deviceId: string | null
  instanceId: string | null
}

/** @returns `metering` undefined where no license was found */
export type FindMetered = (
  question: MeteredQuestion,
) => Promise<{ result: KeyLookupResult; metering: Metering | undefined }>

/** Terms that were stored before there were thresholds have none. */
type Stored<Terms extends MeterTerms> = Omit<Terms, 'thresholds'> & Partial<Pick<Terms, 'thresholds'>>

const withThresholds = <Terms extends MeterTerms>(stored: readonly Stored<Terms>[]) =>
  stored.map(({ thresholds = [...usualThresholds], ...terms }) => ({ ...terms, thresholds }))

type MeteringRow = {
  tenant_id: string
  product_id: string
  license_id: string
  created_at: string
  renewed_at: string | null
  meters: Stored<MeterTerms>[] | null
  customer_id: string | null
  shared_meters: Stored<SharedMeter>[] | null
}

type Row = KeyAndDeviceRow & MeteringRow & { revalidate_after_seconds: number | null }

/** Finds the license of a key with its meters. Concurrent look-ups share one query. */
export function createMeteredLookup(db: Pool): FindMetered {
  return coalesce(async (questions) => {
    const { rows } = await db.query<Row>({
      name: 'metered-lookup',
      text: lookupSql,
      values: [
        questions.map(({ tenantId }) => tenantId),
        questions.map(({ productId }) => productId),
        questions.map(({ keyHash }) => keyHash),
        questions.map(({ keyedHash }) => keyedHash),
        questions.map(({ deviceId }) => deviceId),
        questions.map(({ instanceId }) => instanceId),
      ],
    })
    return questions.map(({ productId }, index) => {
      const row = rows[index]
      if (!row) throw new Error('the lookup of a metered license returned no row')
      const result = keyResultFrom(row, productId, row.revalidate_after_seconds)
      return { result, metering: result.kind === 'license' ? meteringIn(row) : undefined }
    })
  })
}

const meteringColumns = `
  l.tenant_id, l.product_id, l.license_id, l.created_at, l.renewed_at, y.meters, l.customer_id, ${metersOfCustomer}`

const lookupSql = `
  select p.revalidate_after_seconds, ${keyAndDevice}, ${meteringColumns}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    with ordinality as q (tenant_id, product_id, key_hash, keyed_hash, device_id, instance_id, ordinal)
  left join products p on p.tenant_id = q.tenant_id and p.product_id = q.product_id
  ${licenseOfKey}
  left join lateral (
    (${seatOfDevice})
    union all
    (select * from devices where instance_id = q.instance_id and license_id = l.license_id limit 1)
  ) d on true
  order by q.ordinal`

/** What the licenses of a tenant's customer share; undefined without such a customer. */
export async function findSharedMeters(
  db: Pool,
  tenantId: string,
  customerId: string,
): Promise<SharedMeters | undefined> {
  const { rows } = await db.query<{ shared_meters: SharedMeter[] | null }>({
    name: 'find-shared-meters',
    text: 'select shared_meters from customers where tenant_id = $1 and customer_id = $2',
    values: [tenantId, customerId],
  })
  const [row] = rows
  return row && { tenantId, customerId, meters: row.shared_meters ?? [] }
}

/** A tenant's license with its meters; undefined without such a license. */
export async function findMetering(
  db: Pool,
  tenantId: string,
  licenseId: string,
): Promise<Metering | undefined> {
  const { rows } = await db.query<MeteringRow>({
    name: 'find-metering',
    text: `select ${meteringColumns}
           from licenses l left join key_types y
             on y.tenant_id = l.tenant_id and y.product_id = l.product_id and y.key_type_id = l.key_type_id
           where l.tenant_id = $1 and l.license_id = $2`,
    values: [tenantId, licenseId],
  })
  return rows[0] && meteringIn(rows[0])
}

const meteringIn = ({ tenant_id: tenantId, customer_id: customerId, ...row }: MeteringRow): Metering => ({
  tenantId,
  productId: row.product_id,
  licenseId: row.license_id,
  moments: { issuedAt: row.created_at, purchasedAt: row.renewed_at ?? row.created_at },
  meters: withThresholds(row.meters ?? []),
  shared:
    customerId !== null && row.shared_meters !== null
      ? { tenantId, customerId, meters: withThresholds(row.shared_meters) }
      : undefined,
})
