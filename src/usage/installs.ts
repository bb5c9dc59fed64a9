import type { Pool } from 'pg'
import { createDelayed } from '../async/delayed.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import { type InstallState, maxInstalls, oldestLiveEntry } from '../domain/trials/trial.ts'

type Install = { tenantId: string; productId: string; instanceId: string }

/** A report of an install without a license, and its time. */
export type InstallReport = Install & {
  state: InstallState
  /** The keyed hash of the machine that it reports. */
  machine: string | null
  telemetry: Telemetry
  at: Date
}

/**
 * Keeps the latest reports of installs without a license in memory and writes them once a second, so a beacon
 * needs no write. If the process is killed, unwritten reports are lost until the install sends another.
 */
export type Installs = {
  /** @param isNew false updates an existing row and creates none */
  record(report: InstallReport, isNew: boolean): void
  /** Whether an install's row is about to be created. */
  isPending(install: Install): boolean
  /**
   * Writes an install's machine at once.
   * @returns how many installs were seen on that machine; counting stops at one more than the maximum
   */
  settle(report: InstallReport & { machine: string }): Promise<number>
  /** Records that a license was activated on an install; an unknown install gets no row. */
  convert(install: Install): void
  /** Deletes installs that were not seen for 18 months, the period that the trial ledger covers. */
  sweep(): Promise<void>
  /** Writes pending reports; on failure they are kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

type PendingReport = InstallReport & { isNew: boolean }

/** Only invented installs would exceed this number. */
const maxPending = 20_000
const sweepEveryMs = 6 * 3_600_000

/** A larger batch would occupy a connection for long. */
const batchSize = 1000

// Neither id can hold a dot.
const keyOf = ({ tenantId, productId, instanceId }: Install) => `${tenantId}.${productId}.${instanceId}`

export function createInstalls(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 1000,
): Installs {
  let pending = new Map<string, PendingReport>()
  /** The reports that are being written. */
  let writing = new Map<string, PendingReport>()
  let converted = new Map<string, Install & { at: Date }>()
  let skipped = 0

  function keep(report: PendingReport): void {
    const key = keyOf(report)
    const before = pending.get(key)
    if (!before && pending.size >= maxPending) skipped++
    else pending.set(key, before ? newerOf(before, report) : report)
  }

  async function write(): Promise<void> {
    if (skipped > 0) {
      onFailure(new Error(`more installs report than can be stored: ${skipped} were skipped`))
      skipped = 0
    }
    writing = pending
    pending = new Map()
    const conversions = converted
    converted = new Map()
    const rows = [...writing.values()]
    try {
      for (let at = 0; at < rows.length; at += batchSize) {
        await writeReports(db, rows.slice(at, at + batchSize))
      }
      if (conversions.size > 0) await writeConversions(db, [...conversions.values()])
    } catch (error) {
      onFailure(error)
      const later = pending
      pending = writing
      for (const report of later.values()) keep(report)
      converted = new Map([...conversions, ...converted])
      delayed.ask()
    }
    writing = new Map()
  }

  const sweep = () => deleteUnseen(db, oldestLiveEntry(now().toISOString())).catch(onFailure)
  const delayed = createDelayed(flushEveryMs, write)
  const sweeping = setInterval(() => void sweep(), sweepEveryMs)

  return {
    record(report, isNew) {
      keep({ ...report, isNew })
      delayed.ask()
    },
    isPending(install) {
      const key = keyOf(install)
      return pending.get(key)?.isNew === true || writing.get(key)?.isNew === true
    },
    async settle(report) {
      await writeReports(db, [{ ...report, isNew: true }])
      return countOnMachine(db, report.machine)
    },
    convert(install) {
      if (converted.size < maxPending) converted.set(keyOf(install), { ...install, at: now() })
      delayed.ask()
    },
    sweep,
    flush: delayed.now,
    async stop() {
      delayed.cancel()
      clearInterval(sweeping)
      await delayed.now()
    },
  }
}

/** Merges two reports of an install: values that the later one lacks keep their earlier value. */
function newerOf(before: PendingReport, after: PendingReport): PendingReport {
  const { appVersion, sdkVersion, platform, sdk } = after.telemetry
  return {
    ...after,
    isNew: before.isNew || after.isNew,
    machine: after.machine ?? before.machine,
    telemetry: {
      appVersion: appVersion ?? before.telemetry.appVersion,
      sdkVersion: sdkVersion ?? before.telemetry.sdkVersion,
      platform: platform ?? before.telemetry.platform,
      sdk: sdk ?? before.telemetry.sdk,
    },
  }
}

async function writeReports(db: Pool, reports: readonly PendingReport[]): Promise<void> {
  for (const isNew of [true, false]) {
    const rows = reports.filter((report) => report.isNew === isNew).map(rowOf)
    if (rows.length === 0) continue
    await db.query({
      name: isNew ? 'write-installs' : 'write-known-installs',
      text: upsertInstalls(isNew ? '' : knownOnly),
      values: [JSON.stringify(rows)],
    })
  }
}

const rowOf = ({ tenantId, productId, instanceId, state, machine, telemetry, at }: PendingReport) => ({
  tenant_id: tenantId,
  product_id: productId,
  instance_id: instanceId,
  state,
  machine,
  app_version: telemetry.appVersion,
  sdk_version: telemetry.sdkVersion,
  platform: telemetry.platform,
  sdk: telemetry.sdk,
  first_seen_at: at,
  last_seen_at: at,
})

const knownOnly = `
  where exists (select from usage.installs k
    where (k.tenant_id, k.product_id, k.instance_id) = (s.tenant_id, s.product_id, s.instance_id))`

/** In key order, so that concurrent statements do not deadlock. */
const upsertInstalls = (which: string) => `
  with written as (
  insert into usage.installs as i
  select * from json_populate_recordset(null::usage.installs, $1) s ${which}
  order by tenant_id, product_id, instance_id
  on conflict (tenant_id, product_id, instance_id) do update set
    state = case when excluded.last_seen_at >= i.last_seen_at then excluded.state else i.state end,
    machine = coalesce(excluded.machine, i.machine),
    app_version = coalesce(excluded.app_version, i.app_version),
    sdk_version = coalesce(excluded.sdk_version, i.sdk_version),
    platform = coalesce(excluded.platform, i.platform),
    sdk = coalesce(excluded.sdk, i.sdk),
    last_seen_at = greatest(excluded.last_seen_at, i.last_seen_at)
  returning tenant_id, product_id, state, first_seen_at, xmax = 0 as is_new
  )
  insert into usage.trial_days as d
  select tenant_id, (first_seen_at at time zone 'UTC')::date, product_id, count(*), 0
  from written where is_new and state = 'trial'
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (tenant_id, day, product_id) do update set started = d.started + excluded.started`

/** The first license of an install counts as a conversion if the install was on trial, or past it. */
const conversionsSql = `
  with before as (
    select i.tenant_id, i.product_id, i.instance_id, i.state, i.converted_at, c.at
    from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as c (tenant_id, product_id, instance_id, at)
    join usage.installs i using (tenant_id, product_id, instance_id)
    order by tenant_id, product_id, instance_id
    for update of i
  ), written as (
    update usage.installs i set converted_at = b.at from before b
    where (i.tenant_id, i.product_id, i.instance_id) = (b.tenant_id, b.product_id, b.instance_id)
  )
  insert into usage.trial_days as d
  select tenant_id, (at at time zone 'UTC')::date, product_id, 0, count(*)
  from before where converted_at is null and state in ('trial', 'expired')
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (tenant_id, day, product_id) do update set converted = d.converted + excluded.converted`

async function writeConversions(db: Pool, conversions: readonly (Install & { at: Date })[]): Promise<void> {
  await db.query({
    name: 'write-conversions',
    text: conversionsSql,
    values: [
      conversions.map(({ tenantId }) => tenantId),
      conversions.map(({ productId }) => productId),
      conversions.map(({ instanceId }) => instanceId),
      conversions.map(({ at }) => at),
    ],
  })
}

async function countOnMachine(db: Pool, machine: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: 'count-installs-on-machine',
    text: `select count(*) from (select from usage.installs where machine = $1 limit ${maxInstalls + 1}) seen`,
    values: [machine],
  })
  return Number(rows[0]?.count ?? 0n)
}

async function deleteUnseen(db: Pool, since: string): Promise<void> {
  await db.query('delete from usage.installs where last_seen_at < $1', [since])
}
