import type { Pool } from 'pg'
import type { Telemetry } from '../domain/telemetry.ts'

/**
 * Keeps what the devices of licenses last said of themselves: in memory, and written down every few seconds, so that
 * it costs a call no write of its own. What a killed process had not written yet is lost until the device says it
 * again.
 */
export type DeviceTelemetry = {
  note(device: { instanceId: string; licenseId: string }, said: Telemetry): void
  /** Writes what has been noted; on failure it is kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type Noted = { licenseId: string; said: Telemetry; at: Date }

/** A device that has said nothing new is noted again when so long has passed. */
const staleMs = 86_400_000

/** More at once would keep a connection from others for long. */
const batchSize = 1000

/** Whether there is anything in what a device says now that was not known, or has not been said for a day. */
export function isNews(
  said: Telemetry,
  known: (Telemetry & { seenAt: string }) | undefined,
  now: Date,
): boolean {
  if (said.appVersion === null && said.sdkVersion === null && said.platform === null && said.sdk === null)
    return false
  return (
    known === undefined ||
    said.appVersion !== known.appVersion ||
    said.sdkVersion !== known.sdkVersion ||
    said.platform !== known.platform ||
    said.sdk !== known.sdk ||
    now.getTime() - Date.parse(known.seenAt) >= staleMs
  )
}

/** What the devices of a license have said of themselves, by instance id, as far as it has been written down. */
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
  return new Map(rows.map(({ instanceId, ...said }) => [instanceId, said]))
}

export function createDeviceTelemetry(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 5000,
): DeviceTelemetry {
  let noted = new Map<string, Noted>()
  let flushing = Promise.resolve()

  async function write(): Promise<void> {
    const all = [...noted]
    noted = new Map()
    for (let at = 0; at < all.length; at += batchSize) {
      try {
        await writeBatch(db, all.slice(at, at + batchSize))
      } catch (error) {
        onFailure(error)
        noted = new Map([...all.slice(at), ...noted])
        return
      }
    }
  }

  const flush = () => {
    flushing = flushing.then(write)
    return flushing
  }
  const timer = setInterval(() => void flush(), flushEveryMs)

  return {
    note({ instanceId, licenseId }, said) {
      noted.set(instanceId, { licenseId, said, at: now() })
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}

async function writeBatch(db: Pool, batch: readonly (readonly [string, Noted])[]): Promise<void> {
  await db.query({
    name: 'note-device-telemetry',
    text: `insert into usage.device_telemetry as t
           select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
           on conflict (instance_id) do update set app_version = excluded.app_version,
             sdk_version = excluded.sdk_version, platform = excluded.platform, sdk = excluded.sdk,
             seen_at = excluded.seen_at
           where t.seen_at <= excluded.seen_at`,
    values: [
      batch.map(([instanceId]) => instanceId),
      batch.map(([, { licenseId }]) => licenseId),
      batch.map(([, { said }]) => said.appVersion),
      batch.map(([, { said }]) => said.sdkVersion),
      batch.map(([, { said }]) => said.platform),
      batch.map(([, { said }]) => said.sdk),
      batch.map(([, { at }]) => at),
    ],
  })
}
