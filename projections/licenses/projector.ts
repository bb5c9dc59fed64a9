import type { LicenseEvent } from '../../src/domain/licenses/events.ts'
import {
  absentLicense,
  evolveLicense,
  givesSeats,
  type IssuedLicense,
  type License,
  type Seat,
  statusAt,
} from '../../src/domain/licenses/license.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import { historyDdl, historyRow, writesOfHistory } from '../history/table.ts'
import {
  countLicenseEvent,
  type LicenseCounts,
  licenseInsightsDdl,
  writesOfLicenseCounts,
} from '../insights/licenses.ts'
import type { Projector } from '../projector.ts'
import { type Statement, type Statements, writesOf } from '../statements.ts'
import {
  activeDevicesDdl,
  type DevicesChange,
  type LicenseDevices,
  writesOfActiveDevices,
} from './active-devices.ts'
import { expiriesDdl } from './expiries.ts'
import { filterDdl, metadataRows } from './filter.ts'
import { numberRows, numbersDdl } from './numbers.ts'
import { type DeviceRow, deviceColumns, type LicenseRow, licenseColumns, licenseFrom } from './rows.ts'

export const licensesProjector: Projector = {
  name: 'licenses',
  tables: [
    'licenses',
    'license_keys',
    'license_metadata',
    'license_numbers',
    'devices',
    'active_devices',
    'license_history',
    'license_days',
    'license_ends',
  ],
  ddl: `
    create table licenses (
      license_id text primary key,
      tenant_id text not null,
      product_id text not null,
      key_type_id text not null,
      revision int not null,
      key_hash text not null,
      display_key text not null,
      quantity int not null,
      device_limit int,
      seats_used int not null,
      expires_at timestamptz,
      on_expiry text not null,
      ended_at timestamptz,
      taken_back_at timestamptz,
      suspended_at timestamptz,
      suspended_reason text,
      key_mail_asked_at timestamptz,
      -- When the customer freed seats, as far as it counts toward what the product allows.
      freed_by_customer_at json not null,
      revoked_at timestamptz,
      revoked_reason text,
      revoked_cause text,
      refunded_at timestamptz,
      -- Payments of its sale whose money went back.
      refunded_payments json not null,
      sale_through int not null,
      -- What its sale entitled to when it was last followed.
      sold json,
      subject_id text,
      email text,
      name text,
      customer_id text,
      source text not null,
      sale_id text,
      test boolean not null,
      metadata json not null,
      created_at timestamptz not null
    ) with (fillfactor = 85);
    create index licenses_of_product on licenses (tenant_id, product_id, created_at desc, license_id desc);
    create index licenses_of_subject on licenses (tenant_id, subject_id, created_at desc, license_id desc)
      where subject_id is not null;
    create index licenses_of_customer on licenses (customer_id, created_at desc, license_id desc)
      where customer_id is not null;
    ${expiriesDdl};
    ${filterDdl};
    ${numbersDdl};
    -- Every key a license ever had. Only its newest one is current; an older one answers "reminted".
    create table license_keys (
      tenant_id text not null,
      product_id text not null,
      key_hash text not null,
      license_id text not null,
      current boolean not null,
      -- What of the key is shown behind its prefix.
      ending text not null,
      primary key (tenant_id, product_id, key_hash)
    );
    create index license_keys_by_ending on license_keys (tenant_id, ending, license_id desc);
    create table devices (
      license_id text not null,
      device_id text not null,
      tenant_id text not null,
      instance_id text not null,
      install_id text,
      name text not null,
      platform text,
      -- The name that the customer gave it, sealed, and whose key it is sealed under.
      given_name jsonb,
      status text not null,
      activated_at timestamptz not null,
      deactivated_at timestamptz,
      primary key (license_id, device_id)
    );
    -- Apps ask by the id that they were given, and activate themselves again by their name or former id.
    create index devices_by_instance on devices (instance_id, license_id);
    create index devices_by_name on devices (license_id, name) where status = 'active';
    create index devices_by_install on devices (license_id, install_id)
      where status = 'active' and install_id is not null;
    -- People look for devices of a whole tenant.
    create index devices_by_age on devices (tenant_id, activated_at desc, license_id desc, device_id desc);
    create index devices_by_own_id on devices (tenant_id, device_id text_pattern_ops, activated_at desc);
    create index devices_by_any_name on devices (tenant_id, lower(name) text_pattern_ops);
    ${activeDevicesDdl};
    ${licenseInsightsDdl};
    ${historyDdl}`,
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
    }
    for (const recorded of own) applyEvent(states, changes, recorded)
    return [...writesOfChanges(states, changes), ...writesOfActiveDevices(devicesChanges(before, states))]
  },
}

type RecordedLicense = Recorded<'license'>
/** `moment`: the time up to which its events have happened, see the column of `license_history`. */
type State = { license: License; revision: number; moment: string }
type Changes = {
  licenses: Set<string>
  seats: Map<string, { license: IssuedLicense; seats: Map<string, Seat> }>
  /** By tenant, product and key hash: the license that has the key, and whether it is the license's current key. */
  keys: Map<string, { license: IssuedLicense; current: boolean }>
  /** Licenses with new metadata, and whether they had other metadata before. */
  metadata: Map<string, { license: IssuedLicense; replaced: boolean }>
  history: object[]
  counts: LicenseCounts
}

const idOf = ({ stream }: RecordedLicense): string => stream.slice('license-'.length)

/** Loads the licenses, and only those of their devices that the events change. */
async function load(db: Statements, entries: readonly RecordedLicense[]): Promise<Map<string, State>> {
  const isNew = new Set(entries.filter(({ revision }) => revision === 0).map(idOf))
  const ids = [...new Set(entries.map(idOf))]
  const known = ids.filter((id) => !isNew.has(id))
  const seats = entries.flatMap((entry) =>
    deviceOf(entry.event).map((deviceId) => ({ id: idOf(entry), deviceId })),
  )
  const emptied = entries.filter(({ event }) => freesAllSeats(event)).map(idOf)
  // Queried for all ids: a "new" license has a row already when its events are applied twice.
  const [{ rows }, devices] = await Promise.all([
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
  const devicesOf = Map.groupBy(devices, (device) => device.license_id)
  return new Map(
    rows.map((row) => {
      const license = licenseFrom(row, devicesOf.get(row.license_id) ?? [])
      return [row.license_id, { license, revision: row.revision, moment: row.moment }]
    }),
  )
}

/** Whether the event frees every seat. */
const freesAllSeats = ({ type }: LicenseEvent): boolean =>
  type === 'LicenseReminted' || type === 'ImportTakenBack'

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

function deviceOf(event: LicenseEvent): string[] {
  switch (event.type) {
    case 'DeviceActivated':
    case 'DeviceDeactivated':
    case 'DeviceNamed':
      return [event.data.deviceId]
    default:
      return []
  }
}

function applyEvent(states: Map<string, State>, changes: Changes, recorded: RecordedLicense): void {
  const id = idOf(recorded)
  const { event, revision } = recorded
  const before = states.get(id)
  if (before && before.revision >= revision) return
  const license = evolveLicense(before?.license ?? absentLicense, event)
  const { at } = recorded.metadata
  const moment = before && before.moment > at ? before.moment : at
  states.set(id, { license, revision, moment })
  changes.licenses.add(id)
  changes.history.push(historyRow(recorded, license.status === 'issued' ? license.seatsUsed : 0, moment))
  countLicenseEvent(changes.counts, before?.license, license, event)
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
  if (previous?.keyHash !== license.keyHash) {
    if (previous) changes.keys.set(keyOf(previous), { license: previous, current: false })
    changes.keys.set(keyOf(license), { license, current: true })
  }
}

/** Without the license id: a key whose import was taken back may be imported again, as another license. */
const keyOf = ({ tenantId, productId, keyHash }: IssuedLicense): string =>
  `${tenantId} ${productId} ${keyHash}`

function writesOfChanges(states: ReadonlyMap<string, State>, changes: Changes): Statement[] {
  const licenses = [...changes.licenses].flatMap((id) => {
    const state = states.get(id)
    return state?.license.status === 'issued' ? [licenseColumns(state.license, state.revision)] : []
  })
  const keys = [...changes.keys.values()].map(({ license, current }) => ({
    tenant_id: license.tenantId,
    product_id: license.productId,
    key_hash: license.keyHash,
    license_id: license.licenseId,
    current,
    ending: license.displayKey.slice(license.displayKey.indexOf('…') + 1),
  }))
  const devices = [...changes.seats.values()].flatMap(({ license, seats }) =>
    Array.from(seats.values(), (seat) => deviceColumns(license, seat)),
  )
  return [
    ...writesOf('write-licenses', writeLicenses, licenses),
    ...writesOf('write-license-keys', writeKeys, keys),
    ...writesOf('write-devices', writeDevices, devices),
    ...writesOfMetadata([...changes.metadata.values()]),
    ...writesOfHistory(changes.history),
    ...writesOfLicenseCounts(changes.counts),
  ]
}

function writesOfMetadata(changed: readonly { license: IssuedLicense; replaced: boolean }[]): Statement[] {
  const outdated = changed.filter(({ replaced }) => replaced).map(({ license }) => license.licenseId)
  const rows = changed.flatMap(({ license }) => metadataRows(license))
  return [
    ...(outdated.length === 0
      ? []
      : [
          { name: 'delete-license-metadata', text: deleteMetadata, values: [outdated] },
          { name: 'delete-license-numbers', text: deleteNumbers, values: [outdated] },
        ]),
    ...writesOf('write-license-metadata', writeMetadata, rows),
    ...writesOf(
      'write-license-numbers',
      writeNumbers,
      changed.flatMap(({ license }) => numberRows(license)),
    ),
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
  const { seatsUsed, endedAt, expiresAt } = license
  const recorded = endedAt !== null && endedAt === expiresAt ? endedAt : null
  const isLive = givesSeats(statusAt({ ...license, expiresAt: recorded }, recorded ?? ''))
  return { seated: seatsUsed, active: isLive ? seatsUsed : 0 }
}

const writeLicenses = `
  insert into licenses select * from json_populate_recordset(null::licenses, $1)
  on conflict (license_id) do update set
    revision = excluded.revision, key_hash = excluded.key_hash, display_key = excluded.display_key,
    seats_used = excluded.seats_used, expires_at = excluded.expires_at, ended_at = excluded.ended_at,
    key_type_id = excluded.key_type_id, quantity = excluded.quantity, device_limit = excluded.device_limit,
    on_expiry = excluded.on_expiry,
    revoked_at = excluded.revoked_at, revoked_reason = excluded.revoked_reason,
    revoked_cause = excluded.revoked_cause, refunded_payments = excluded.refunded_payments,
    refunded_at = excluded.refunded_at, sale_through = excluded.sale_through,
    customer_id = excluded.customer_id, subject_id = excluded.subject_id, email = excluded.email,
    name = excluded.name, metadata = excluded.metadata, sold = excluded.sold,
    taken_back_at = excluded.taken_back_at, suspended_at = excluded.suspended_at,
    suspended_reason = excluded.suspended_reason, key_mail_asked_at = excluded.key_mail_asked_at,
    freed_by_customer_at = excluded.freed_by_customer_at
  where licenses.revision < excluded.revision`

const writeKeys = `
  insert into license_keys select * from json_populate_recordset(null::license_keys, $1)
  on conflict (tenant_id, product_id, key_hash) do update set
    license_id = excluded.license_id, current = excluded.current, ending = excluded.ending`

const deleteMetadata = 'delete from license_metadata where license_id = any($1)'

const writeMetadata = `
  insert into license_metadata select * from json_populate_recordset(null::license_metadata, $1)
  on conflict do nothing`

const deleteNumbers = 'delete from license_numbers where license_id = any($1)'

const writeNumbers = `
  insert into license_numbers select * from json_populate_recordset(null::license_numbers, $1)
  on conflict do nothing`

const writeDevices = `
  insert into devices select * from json_populate_recordset(null::devices, $1)
  on conflict (license_id, device_id) do update set
    instance_id = excluded.instance_id, install_id = excluded.install_id, name = excluded.name,
    platform = excluded.platform, given_name = excluded.given_name, status = excluded.status,
    activated_at = excluded.activated_at, deactivated_at = excluded.deactivated_at`
