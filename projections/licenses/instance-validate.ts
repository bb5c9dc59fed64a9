import type { Pool } from 'pg'
import { coalesce } from '../../src/async/coalesce.ts'
import type { KeyHashes } from '../../src/domain/licenses/keys.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import type { Standing } from '../../src/domain/licenses/status.ts'
import {
  type ClientColumns,
  type ClientLookupParams,
  clientColumns,
  clientJoins,
  clientsFrom,
  type KnownClient,
  tenantsToLookUp,
} from '../clients.ts'
import type { Entitling } from './entitlements.ts'
import {
  deviceOfInstance,
  entitlementsOfKeyType,
  licenseOfKey,
  overridesOfCustomer,
  type SeatedByKey,
  seatedByKey,
  uncertainLicense,
} from './joins.ts'
import { type EntitlingColumns, entitlingFrom } from './rows.ts'

/** An app's validate: the tenant and product that it names, the license key's hashes and the instance. */
type InstanceValidateParams = ClientLookupParams & KeyHashes & { instanceId: string }

/** What was found for a license key on one instance, limited to what a verdict needs. `old key`: it was reminted. */
export type InstanceKeyResult = { kind: 'no license' } | OldKey | LicenseOnInstance

type OldKey = { kind: 'old key'; licenseId: string }

export type LicenseOnInstance = Entitling & {
  kind: 'license'
  licenseId: string
  license: Pick<IssuedLicense, 'productId' | 'updatesUntil' | 'floating'> & Standing
  /** Whether the instance has an active seat. */
  seated: boolean
  /** Whether it has the seat of another person than the one whose key was sent. */
  seatedByAnother: boolean
  /** Whether the key is of a person whose seat was taken from them. */
  withoutSeat: boolean
  /** Its floating seat, also one that it lost; undefined for a device that never had one. */
  floatingSeat: { deviceId: string; fence: number; fileEndsAt: string | null } | undefined
  /** The last telemetry of the instance; undefined when it has sent none. */
  telemetry: KnownTelemetry | undefined
  /** The license's or its customer's stream is parked, so the license's status is unknown. */
  uncertain: boolean
}

type KnownTelemetry = {
  appVersion: string | null
  sdkVersion: string | null
  platform: string | null
  sdk: string | null
  seenAt: string
}

export type FindForInstanceValidate = (
  params: InstanceValidateParams,
) => Promise<{ client: KnownClient | undefined; result: InstanceKeyResult }>

type Row = ClientColumns & {
  current: boolean | null
  license_id: string
  revoked_at: string | null
  suspended_at: string | null
  expires_at: string | null
  grace_seconds: number | null
  on_expiry: IssuedLicense['onExpiry']
  updates_until: string | null
  floating: IssuedLicense['floating']
  device_id: string | null
  fence: number | null
  file_ends_at: string | null
  uncertain: boolean
  app_version: string | null
  sdk_version: string | null
  platform: string | null
  sdk: string | null
  seen_at: string | null
} & SeatedByKey &
  EntitlingColumns

/**
 * Finds everything for an app's validate, by far its most frequent call, in one query: the tenant, its SDK key, the
 * product, the signing key and the license on the instance. Concurrent lookups share one query; nothing is cached.
 */
export function createInstanceValidateLookup(db: Pool): FindForInstanceValidate {
  return coalesce(async (lookups) => {
    const { rows } = await db.query<Row>({
      name: 'instance-validate',
      text: lookupSql,
      values: [
        lookups.map(({ tenantId }) => tenantId),
        lookups.map(({ productId }) => productId),
        lookups.map(({ keyHash }) => keyHash),
        lookups.map(({ keyedHash }) => keyedHash),
        lookups.map(({ instanceId }) => instanceId),
        lookups.map(({ now }) => now),
        tenantsToLookUp(lookups),
      ],
    })
    const clients = clientsFrom(rows, lookups)
    return rows.map((row, index) => ({
      client: clients[index],
      result: resultFrom(row, lookups[index]?.productId ?? ''),
    }))
  })
}

const lookupSql = `
  select ${clientColumns},
    k.current, k.license_id, l.revoked_at, l.suspended_at, l.expires_at, l.grace_seconds, l.on_expiry, l.updates_until, l.floating,
    d.device_id, d.fence, d.file_ends_at,
    ${entitlementsOfKeyType},
    ${overridesOfCustomer},
    ${seatedByKey},
    u.app_version, u.sdk_version, u.platform, u.sdk, u.seen_at,
    ${uncertainLicense}
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])
    with ordinality as q (tenant_id, product_id, key_hash, keyed_hash, instance_id, now, lookup_tenant_id, ordinal)
  ${clientJoins}
  ${licenseOfKey}
  ${deviceOfInstance}
  left join usage.device_telemetry u on u.instance_id = d.instance_id
  order by q.ordinal`

function resultFrom(row: Row, productId: string): InstanceKeyResult {
  if (row.current === null) return { kind: 'no license' }
  if (!row.current) return { kind: 'old key', licenseId: row.license_id }
  return {
    kind: 'license',
    licenseId: row.license_id,
    license: {
      productId,
      revokedAt: row.revoked_at,
      suspendedAt: row.suspended_at,
      expiresAt: row.expires_at,
      graceSeconds: row.grace_seconds,
      onExpiry: row.on_expiry,
      updatesUntil: row.updates_until,
      floating: row.floating,
    },
    ...entitlingFrom(row),
    seated: row.seated,
    seatedByAnother: row.seated_by_another,
    withoutSeat: row.without_seat,
    floatingSeat:
      row.device_id === null || row.fence === null
        ? undefined
        : { deviceId: row.device_id, fence: row.fence, fileEndsAt: row.file_ends_at },
    telemetry: telemetryFrom(row),
    uncertain: row.uncertain,
  }
}

function telemetryFrom(row: Row): KnownTelemetry | undefined {
  if (row.seen_at === null) return undefined
  const { app_version: appVersion, sdk_version: sdkVersion, platform, sdk, seen_at: seenAt } = row
  return { appVersion, sdkVersion, platform, sdk, seenAt }
}
