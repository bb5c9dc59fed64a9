import type { Pool } from 'pg'
import { createDelayed } from '../async/delayed.ts'
import type { Telemetry } from '../domain/telemetry.ts'

/**
 * Keeps the latest telemetry of licensed devices in memory and writes it every few seconds, so a call needs no
 * write. If the process is killed, unwritten telemetry is lost until the device sends it again.
 */
export type DeviceTelemetry = {
  record(device: { instanceId: string; licenseId: string }, telemetry: Telemetry): void
  /** Writes pending telemetry; on failure it is kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Pending = { licenseId: string; telemetry: Telemetry; at: Date }

/** A device with unchanged telemetry is recorded again after this time. */
const staleMs = 86_400_000

/** A larger batch would occupy a connection for long. */
const batchSize = 1000

/** Whether a device's telemetry differs from what is known, or what is known is older than a day. */
export function hasChanged(
  telemetry: Telemetry,
  known: (Telemetry & { seenAt: string }) | undefined,
  now: Date,
): boolean {
  if (
    telemetry.appVersion === null &&
    telemetry.sdkVersion === null &&
    telemetry.platform === null &&
    telemetry.sdk === null
  )
    return false
  return (
    known === undefined ||
    telemetry.appVersion !== known.appVersion ||
    telemetry.sdkVersion !== known.sdkVersion ||
    telemetry.platform !== known.platform ||
    telemetry.sdk !== known.sdk ||
    now.getTime() - Date.parse(known.seenAt) >= staleMs
  )
}

/** Reads the written telemetry of a license's devices, by instance id. */
export async function readTelemetry(
  db: Pool,
  licenseId: string,
): Promise<ReadonlyMap<string, Telemetry & { seenAt: string }>> {
  const { rows } = await db.query<Telemetry & { instanceId: string; seenAt: string }>({
    name: 'read-telemetry',
    text: `select instance_id as "instanceId", app_version as "appVersion", sdk_version as "sdkVersion", platform, sdk,
             seen_at as "seenAt"
           from usage.device_telemetry where license_id = $1`,
    values: [licenseId],
  })
  return new Map(rows.map(({ instanceId, ...telemetry }) => [instanceId, telemetry]))
}

/** When these devices last sent something about themselves, by instance id; without those that never did. */
export async function lastSeenOf(
  db: Pool,
  instanceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ instanceId: string; seenAt: string }>({
    name: 'last-seen-of-devices',
    text: `select instance_id as "instanceId", seen_at as "seenAt" from usage.device_telemetry
           where instance_id = any($1)`,
    values: [instanceIds],
  })
  return new Map(rows.map(({ instanceId, seenAt }) => [instanceId, seenAt]))
}

/** When any device of these licenses last sent something about itself, by license; without those of which none did. */
export async function lastSeenOfLicenses(
  db: Pool,
  licenseIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ licenseId: string; seenAt: string }>({
    name: 'last-seen-of-licenses',
    text: `select license_id as "licenseId", max(seen_at) as "seenAt" from usage.device_telemetry
           where license_id = any($1) group by license_id`,
    values: [licenseIds],
  })
  return new Map(rows.map(({ licenseId, seenAt }) => [licenseId, seenAt]))
}

export function createDeviceTelemetry(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 5000,
): DeviceTelemetry {
  let pending = new Map<string, Pending>()

  async function write(): Promise<void> {
    const all = [...pending]
    pending = new Map()
    for (let at = 0; at < all.length; at += batchSize) {
      try {
        await writeBatch(db, all.slice(at, at + batchSize))
      } catch (error) {
        onFailure(error)
        pending = new Map([...all.slice(at), ...pending])
        writing.ask()
        return
      }
    }
  }

  const writing = createDelayed(flushEveryMs, write)

  return {
    record({ instanceId, licenseId }, telemetry) {
      pending.set(instanceId, { licenseId, telemetry, at: now() })
      writing.ask()
    },
    flush: writing.now,
    async stop() {
      writing.cancel()
      await writing.now()
    },
  }
}

/**
 * Devices that report for the first time are counted by their version. Both tables are written in the order of their keys,
 * so that concurrent statements do not deadlock.
 */
const writeSql = `
  with written as (
    insert into usage.device_telemetry as t
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
    order by 1
    on conflict (instance_id) do update set app_version = excluded.app_version,
      sdk_version = excluded.sdk_version, platform = excluded.platform, sdk = excluded.sdk,
      seen_at = excluded.seen_at
    where t.seen_at <= excluded.seen_at
    returning license_id, app_version, platform, seen_at, xmax = 0 as is_new
  )
  insert into usage.app_versions as v
  select l.tenant_id, (w.seen_at at time zone 'UTC')::date, l.product_id, coalesce(w.app_version, ''),
    coalesce(w.platform, ''), count(*)
  from written w join licenses l using (license_id)
  where w.is_new and not l.test
  group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (tenant_id, day, product_id, app_version, platform) do update set devices = v.devices + excluded.devices`

async function writeBatch(db: Pool, batch: readonly (readonly [string, Pending])[]): Promise<void> {
  await db.query({
    name: 'note-device-telemetry',
    text: writeSql,
    values: [
      batch.map(([instanceId]) => instanceId),
      batch.map(([, { licenseId }]) => licenseId),
      batch.map(([, { telemetry }]) => telemetry.appVersion),
      batch.map(([, { telemetry }]) => telemetry.sdkVersion),
      batch.map(([, { telemetry }]) => telemetry.platform),
      batch.map(([, { telemetry }]) => telemetry.sdk),
      batch.map(([, { at }]) => at),
    ],
  })
}
