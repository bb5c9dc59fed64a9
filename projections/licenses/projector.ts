import { deviceOf, mayChangeAllSeats } from '../../src/domain/licenses/event-traits.ts'
import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import { endOf } from '../../src/domain/licenses/grace.ts'
import {
  absentLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
} from '../../src/domain/licenses/license.ts'
import { devicesSeated } from '../../src/domain/licenses/named.ts'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import { givesSeats, statusAt } from '../../src/domain/licenses/status.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { historyRow, licenseHistory } from '../history/table.ts'
import { countLicenseEvent, type LicenseCounts, licenseDays, licenseEnds } from '../insights/licenses.ts'
import type { Projector } from '../projector.ts'
import { countSeats, type SeatMinutes, seatMinutes, writesOfSeats } from '../seats/minutes.ts'
import type { Statement, Statements } from '../statements.ts'
import type { RowIn } from '../table.ts'
import {
  activeDevices,
  type DevicesChange,
  type LicenseDevices,
  writesOfActiveDevices,
} from './active-devices.ts'
import { licenseMetadata, metadataRows } from './filter.ts'
import { keysChanged } from './key-rows.ts'
import { licenseNumbers, numberRows } from './numbers.ts'
import {
  type DeviceRow,
  deviceFieldsOf,
  devices,
  fieldsOf,
  type LicenseRow,
  licenseFrom,
  licenseKeys,
  licenses,
  type Noted,
  seatFrom,
} from './rows.ts'

export const licensesProjector: Projector = {
  name: 'licenses',
  tables: [
    licenses,
    licenseKeys,
    licenseMetadata,
    licenseNumbers,
    devices,
    activeDevices,
    licenseHistory,
    licenseDays,
    licenseEnds,
    seatMinutes,
  ],
  applyIndexes: ['seat_minutes_by_age'],
  async apply(db, entries) {
    const own = entries.filter((entry) => entry.category === 'license')
    if (own.length === 0) return []
    const states = await load(db, own)
    const before = new Map(states)
    const changes: Changes = {
      licenses: new Set(),
      seats: new Map(),
      keys: new Map(),
      metadata: new Map(),
      history: [],
      counts: { days: [], ends: [] },
      seatMinutes: new Map(),
    }
    for (const recorded of own) applyEvent(states, changes, recorded)
    return [...writesOfChanges(states, changes), ...writesOfActiveDevices(devicesChanges(before, states))]
  },
}

type RecordedLicense = Recorded<'license'>
/** `moment`: the time up to which its events have happened, see the column of `license_history`. */
type State = Noted & { license: License; revision: number; moment: string }
type Changes = {
  licenses: Set<string>
  seats: Map<string, { license: IssuedLicense; seats: Map<string, Seat> }>
  /** By tenant, product and key hash. */
  keys: Map<string, RowIn<typeof licenseKeys>>
  /** Licenses with new metadata, and whether they had other metadata before. */
  metadata: Map<string, { license: IssuedLicense; replaced: boolean }>
  history: RowIn<typeof licenseHistory>[]
  counts: LicenseCounts
  seatMinutes: SeatMinutes
}

const idOf = ({ stream }: RecordedLicense): string => stream.slice('license-'.length)

/** Loads the licenses, and only those of their devices that the events change. */
async function load(db: Statements, entries: readonly RecordedLicense[]): Promise<Map<string, State>> {
  const isNew = new Set(entries.filter(({ revision }) => revision === 0).map(idOf))
  const ids = [...new Set(entries.map(idOf))]
  const known = ids.filter((id) => !isNew.has(id))
  const seats = entries.flatMap((entry) => {
    const deviceId = deviceOf(entry.event)
    return deviceId === undefined ? [] : [{ id: idOf(entry), deviceId }]
  })
  const emptied = entries.filter(({ event }) => mayChangeAllSeats(event)).map(idOf)
  // Queried for all ids: a "new" license has a row already when its events are applied twice.
  const [{ rows }, deviceRows] = await Promise.all([
    db.query<LicenseRow & { moment: string }>({
      name: 'licenses-to-apply',
      text: `select l.*, (
               select moment from license_history h where h.license_id = l.license_id and h.revision = l.revision
             ) as moment
             from licenses l where l.license_id = any($1)`,
      values: [ids],
    }),
    known.length === 0 ? [] : loadDevices(db, seats, emptied),
  ])
  const devicesOfLicense = Map.groupBy(deviceRows, (device) => device.license_id)
  return new Map(
    rows.map((row) => {
      const license = licenseFrom(row, (devicesOfLicense.get(row.license_id) ?? []).map(seatFrom))
      const { revision, moment } = row
      const noted = {
        endSetAt: row.end_set_at,
        filesUntil: row.files_until,
        formerKeyFilesUntil: row.former_key_files_until,
        renewedAt: row.renewed_at,
      }
      return [row.license_id, { license, revision, moment, ...noted }]
    }),
  )
}

async function loadDevices(
  db: Statements,
  seats: readonly { id: string; deviceId: string }[],
  emptied: readonly string[],
): Promise<DeviceRow[]> {
  const { rows } = await db.query<DeviceRow>({
    name: 'devices-to-apply',
    text: `select d.* from devices d
           join unnest($1::text[], $2::text[]) as q (license_id, device_id) using (license_id, device_id)
           union
           select d.* from devices d where d.license_id = any($3) and d.status = 'active'`,
    values: [seats.map(({ id }) => id), seats.map(({ deviceId }) => deviceId), emptied],
  })
  return rows
}

function applyEvent(states: Map<string, State>, changes: Changes, recorded: RecordedLicense): void {
  const id = idOf(recorded)
  const { event, revision } = recorded
  const before = states.get(id)
  if (before && before.revision >= revision) return
  const license = evolveLicense(before?.license ?? absentLicense, event)
  const { at } = recorded.metadata
  const moment = before && before.moment > at ? before.moment : at
  const files = filesUntilAfter(before, license, event)
  const renewedAt = renewedAtAfter(before, event)
  states.set(id, {
    license,
    revision,
    moment,
    endSetAt: endSetAt(before, license, at),
    renewedAt,
    ...files,
  })
  changes.licenses.add(id)
  changes.history.push(historyRow(recorded, license.status === 'issued' ? license.seatsUsed : 0, moment))
  countLicenseEvent(changes.counts, before?.license, license, event)
  countSeats(changes.seatMinutes, before?.license, license, moment)
  if (license.status === 'absent') return
  const previous = before?.license.status === 'issued' ? before.license : undefined
  if (previous?.seats !== license.seats) {
    const changed = changes.seats.get(id)?.seats ?? new Map<string, Seat>()
    for (const [deviceId, seat] of license.seats) {
      if (seat !== previous?.seats.get(deviceId)) changed.set(deviceId, seat)
    }
    changes.seats.set(id, { license, seats: changed })
  }
  if (previous?.metadata !== license.metadata) {
    const replaced = previous !== undefined || changes.metadata.get(id)?.replaced === true
    changes.metadata.set(id, { license, replaced })
  }
  // Without the license id: a key whose import was taken back may be imported again, as another license.
  for (const row of keysChanged(previous, license))
    changes.keys.set(`${row.tenantId} ${row.productId} ${row.keyHash}`, row)
}

function endSetAt(before: State | undefined, license: License, at: string): string | null {
  if (license.status === 'absent' || license.expiresAt === null) return null
  const wasSet = before?.license.status === 'issued' && before.license.expiresAt === license.expiresAt
  return wasSet ? before.endSetAt : at
}

/** Another change of its end is no renewal, so that a correction by its vendor includes nothing anew. */
const renewedAtAfter = (before: State | undefined, event: LicenseEvent): string | null =>
  event.type === 'LicenseRenewed' || event.type === 'UpdatesExtended'
    ? event.data.at
    : (before?.renewedAt ?? null)

/** A file has the license's key of its time, so a new key replaces that of all files before it. */
function filesUntilAfter(
  before: State | undefined,
  license: License,
  event: LicenseEvent,
): Pick<State, 'filesUntil' | 'formerKeyFilesUntil'> {
  const { filesUntil = null, formerKeyFilesUntil = null } = before ?? {}
  if (event.type === 'LicenseFileIssued') {
    const { endsAt } = event.data
    return {
      filesUntil: filesUntil === null || endsAt > filesUntil ? endsAt : filesUntil,
      formerKeyFilesUntil,
    }
  }
  const was = before?.license
  const isRekeyed = was?.status === 'issued' && license.status === 'issued' && was.keyHash !== license.keyHash
  return { filesUntil, formerKeyFilesUntil: isRekeyed ? filesUntil : formerKeyFilesUntil }
}

function writesOfChanges(states: ReadonlyMap<string, State>, changes: Changes): Statement[] {
  return [
    ...licenses.write(
      [...changes.licenses].flatMap((id) => {
        const state = states.get(id)
        return state?.license.status === 'issued' ? [fieldsOf(state.license, state)] : []
      }),
    ),
    ...licenseKeys.write([...changes.keys.values()]),
    ...devices.write(
      [...changes.seats.values()].flatMap(({ license, seats }) =>
        Array.from(seats.values(), (seat) => deviceFieldsOf(license, seat)),
      ),
    ),
    ...writesOfMetadata([...changes.metadata.values()]),
    ...licenseHistory.write(changes.history),
    ...licenseDays.write(changes.counts.days),
    ...licenseEnds.write(changes.counts.ends),
    ...writesOfSeats(changes.seatMinutes),
  ]
}

const deleteOutdated = (table: string, licenseIds: readonly string[]): Statement => ({
  name: `delete-${table}`,
  text: `delete from ${table} where license_id = any($1)`,
  values: [licenseIds],
})

function writesOfMetadata(changed: readonly { license: IssuedLicense; replaced: boolean }[]): Statement[] {
  const outdated = changed.filter(({ replaced }) => replaced).map(({ license }) => license.licenseId)
  const tables = outdated.length === 0 ? [] : [licenseMetadata, licenseNumbers]
  return [
    ...tables.map(({ name }) => deleteOutdated(name, outdated)),
    ...licenseMetadata.write(changed.flatMap(({ license }) => metadataRows(license))),
    ...licenseNumbers.write(changed.flatMap(({ license }) => numberRows(license))),
  ]
}

function devicesChanges(
  before: ReadonlyMap<string, State>,
  after: ReadonlyMap<string, State>,
): DevicesChange[] {
  return [...after].flatMap(([id, { license }]) => {
    if (license.status === 'absent') return []
    const { tenantId, productId } = license
    const previous = before.get(id)?.license
    const was = previous?.status === 'issued' ? devicesOf(previous) : undefined
    return { tenantId, productId, before: was, after: devicesOf(license) }
  })
}

/** An expiry counts once its event is recorded, so that the count depends on the log alone. */
function devicesOf(license: IssuedLicense): LicenseDevices {
  const { endedAt } = license
  const seated = devicesSeated(license)
  const recorded = endedAt !== null && endedAt === endOf(license) ? endedAt : null
  const isLive = givesSeats(statusAt({ ...license, expiresAt: recorded, graceSeconds: null }, recorded ?? ''))
  return { seated, active: isLive ? seated : 0 }
}
