import type { Pool } from 'pg'
import { maskedKey } from '../credentials/license-key.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import { createBatches } from './batches.ts'
import { addRefusals, forgetRefusals, type RefusalRow, trimRefusals } from './refusals-sql.ts'

/** The calls whose refusals are recorded. */
export const callNames = ['activate', 'validate', 'heartbeat', 'consume', 'hold'] as const
export type CallName = (typeof callNames)[number]

/** The interface of the call: for vendors' servers, or for apps. */
export const refusingInterfaces = ['runtime', 'client'] as const

/** A call that was refused. */
export type RefusedCall = {
  tenantId: string
  productId: string
  call: CallName
  interface: (typeof refusingInterfaces)[number]
}

/** The device that a refused call named; the id is empty when it named none. */
export type RefusedDevice = { id: string; name: string | null } & Pick<
  Telemetry,
  'appVersion' | 'sdkVersion' | 'platform'
>

/**
 * Records refused calls in memory and writes them once a second, so a refusal needs no write. The number of kept
 * devices and keys is limited, in memory and in the table; calls beyond it are still counted.
 */
export type Refusals = {
  /** A license refused a call. */
  record(refused: RefusedCall, licenseId: string, reason: string, device: RefusedDevice): void
  /** No license has the key. Only its masked form is kept. */
  recordUnknownKey(refused: RefusedCall, key: string): void
  /** Deletes what is known of the licenses' refused devices, also what other processes are about to write. */
  forget(licenseIds: readonly string[]): Promise<void>
  /** Deletes what is older than 90 days, or 400 of seats, and of tenants with new refusals what exceeds their limits. */
  trim(): Promise<void>
  /** Writes pending refusals; on failure they are kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** A batch has at most this many devices, and as many unknown keys; calls of further ones are only counted. */
export const maxDetails = 2000
/** Only callers that invent products would exceed this number. */
const maxCounts = 10_000

const trimEveryMs = 60_000
const minuteMs = 60_000
const dayMs = 86_400_000

/** The reason of a call with an unknown key. */
const unknownKeyReason = 'not_found'

export function createRefusals(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 1000,
): Refusals {
  let counts = new Map<string, RefusalRow>()
  let devices = new Map<string, RefusalRow>()
  let seats = new Map<string, RefusalRow>()
  let keys = new Map<string, RefusalRow>()
  let skipped = 0
  const touched = new Set<string>()

  const take = (): RefusalRow[] => {
    if (skipped > 0)
      onFailure(new Error(`more calls were refused than can be counted: ${skipped} were skipped`))
    skipped = 0
    const rows = [...counts.values(), ...devices.values(), ...seats.values(), ...keys.values()]
    counts = new Map()
    devices = new Map()
    seats = new Map()
    keys = new Map()
    return rows
  }

  /** Adds a call to a row, and creates the row if there is room. */
  function add(rows: Map<string, RefusalRow>, most: number, fresh: RefusalRow): boolean {
    const key = keyOf(fresh)
    const found = rows.get(key)
    if (!found && rows.size >= most) return false
    rows.set(key, found ? joined(found, fresh) : fresh)
    return true
  }

  function count(row: RefusalRow): void {
    if (!add(counts, maxCounts, { ...row, ...noDetails, kind: 'calls' })) skipped++
    askToWrite()
  }

  const { askToWrite, ...batches } = createBatches(db, addRefusals, take, {
    onFailure,
    flushEveryMs,
  })
  const trim = async () => {
    const tenants = [...touched]
    touched.clear()
    await trimRefusals(db, tenants, now()).catch(onFailure)
  }
  const trimming = setInterval(() => void trim(), trimEveryMs)

  return {
    ...batches,
    record(refused, licenseId, reason, { id, name, appVersion, sdkVersion, platform }) {
      const row = rowOf(refused, reason, now())
      count(row)
      if (reason === 'seat_limit_reached' && !add(seats, maxCounts, seatRow(row, licenseId))) skipped++
      const device = {
        device_id: id,
        device_name: name,
        app_version: appVersion,
        sdk_version: sdkVersion,
        platform,
      }
      add(devices, maxDetails, { ...row, kind: 'license', license_id: licenseId, ...device })
      if (touched.size < maxCounts) touched.add(refused.tenantId)
    },
    recordUnknownKey(refused, key) {
      const row: RefusalRow = { ...rowOf(refused, unknownKeyReason, now()), kind: 'key' }
      count(row)
      const isKept = add(keys, maxDetails, { ...row, display_key: maskedKey(key) })
      if (!isKept) add(keys, maxDetails + maxCounts, row)
    },
    async forget(licenseIds) {
      if (licenseIds.length === 0) return
      await batches.flush()
      await forgetRefusals(db, licenseIds, now())
    },
    trim,
    async stop() {
      clearInterval(trimming)
      await batches.stop()
    },
  }
}

const noDetails = { license_id: '', device_id: '', device_name: null, display_key: '' } as const

const rowOf = (
  { tenantId, productId, call, ...rest }: RefusedCall,
  reason: string,
  at: Date,
): RefusalRow => ({
  kind: 'calls',
  tenant_id: tenantId,
  product_id: productId,
  day: startOf(at.toISOString(), dayMs),
  call,
  reason,
  interface: rest.interface,
  app_version: null,
  sdk_version: null,
  platform: null,
  ...noDetails,
  refused: 1,
  first_seen_at: at.toISOString(),
  last_seen_at: at.toISOString(),
})

/** Of a license that may have no floating seats: that is known where the row is written. */
const seatRow = (row: RefusalRow, licenseId: string): RefusalRow => ({
  ...row,
  ...noDetails,
  kind: 'seat',
  license_id: licenseId,
  day: startOf(row.first_seen_at, minuteMs),
})

const startOf = (moment: string, lengthMs: number): string =>
  new Date(Math.floor(Date.parse(moment) / lengthMs) * lengthMs).toISOString()

/** Calls with one key are one row. A device's id may hold anything, so it comes last. */
function keyOf({
  kind,
  tenant_id,
  product_id,
  day,
  call,
  reason,
  license_id,
  display_key,
  device_id,
}: RefusalRow) {
  if (kind === 'key') return `${tenant_id}.${product_id}.${day}.${display_key}`
  if (kind === 'calls') return `${tenant_id}.${product_id}.${day}.${call}.${reason}`
  if (kind === 'seat') return `${license_id}.${day}`
  return `${license_id}.${call}.${reason}.${device_id}`
}

/** A later call of the same row: what it does not say keeps its earlier value. */
const joined = (before: RefusalRow, after: RefusalRow): RefusalRow => ({
  ...after,
  device_name: after.device_name ?? before.device_name,
  app_version: after.app_version ?? before.app_version,
  sdk_version: after.sdk_version ?? before.sdk_version,
  platform: after.platform ?? before.platform,
  refused: before.refused + after.refused,
  first_seen_at: before.first_seen_at,
})

/** Records that a use of a meter was refused, as {@link Refusals} does. @param use `licenseId` undefined where no license has the key */
export function recordRefusedUse(
  { refusals }: { refusals: Refusals },
  refused: RefusedCall,
  use: { licenseId: string | undefined; licenseKey: string; deviceId: string | null },
  reason: string,
): void {
  const app = { appVersion: null, sdkVersion: null, platform: null }
  if (use.licenseId === undefined) refusals.recordUnknownKey(refused, use.licenseKey)
  else refusals.record(refused, use.licenseId, reason, { id: use.deviceId ?? '', name: null, ...app })
}
