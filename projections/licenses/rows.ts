import type { EntitlementOverride } from '../../src/domain/customers/overrides.ts'
import { endOf } from '../../src/domain/licenses/grace.ts'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { isBarred, keptUntil, withdrawnUntil } from '../../src/domain/licenses/seat-files.ts'
import type { Seat } from '../../src/domain/licenses/seats.ts'
import type { EntitlementValues } from '../../src/domain/products/entitlement-values.ts'
import { defineTable, type RowOf } from '../table.ts'
import type { Entitling } from './entitlements.ts'
import { expiriesIndexes } from './expiries.ts'
import { filterIndexes } from './filter.ts'
import { withdrawingDevices, withdrawingLicenses } from './withdrawn.ts'

/** What events of a license say that its state does not keep. */
export type Noted = {
  /** When its expiry was set; null without one. */
  endSetAt: string | null
  /** When the last of its license files ends; null without any. */
  filesUntil: string | null
  /** The same of those for a key that was replaced. */
  formerKeyFilesUntil: string | null
  /** When it was last renewed: what a purchase includes is counted from then. null when it never was. */
  renewedAt: string | null
}

/** What of a license is in its row: its holder in columns of their own, and its seats in rows of `devices`. */
type LicenseFields = Omit<IssuedLicense, 'status' | 'holder' | 'seats'> &
  Noted & {
    revision: number
    endsAt: string | null
    withdrawnUntil: string | null
    subjectId: string | null
    email: string | null
    name: string | null
  }

/** A license with a holder that was never linked to a customer, nor unlinked. Those of test mode have none. */
export const isToLink = 'customer_id is null and linked_by is null and email is not null and not test'

export const licenses = defineTable<LicenseFields>(
  'licenses',
  {
    licenseId: 'text not null',
    tenantId: 'text not null',
    productId: 'text not null',
    keyTypeId: 'text not null',
    revision: 'int not null',
    keyHash: 'text not null',
    displayKey: 'text not null',
    quantity: 'int not null',
    deviceLimit: 'int',
    seatsUsed: 'int not null',
    expiresAt: 'timestamptz',
    // The term that starts at the first activation.
    startsWith: 'json',
    onExpiry: 'text not null',
    graceSeconds: 'int',
    // When it ends by itself: its expiry, or the end of the grace after it.
    endsAt: 'timestamptz',
    // When its expiry was set: a notice that was due before that is none.
    endSetAt: 'timestamptz',
    endedAt: 'timestamptz',
    noticedEnd: 'timestamptz',
    noticedDays: 'int',
    takenBackAt: 'timestamptz',
    suspendedAt: 'timestamptz',
    suspendedReason: 'text',
    keyMailAskedAt: 'timestamptz',
    // When the customer freed seats, as far as it counts toward what the product allows.
    freedByCustomerAt: 'json not null',
    // Whose keys the identities of its devices are hashed under.
    deviceSubjects: 'json not null',
    // How its seats float, and the fence of the one that was taken last.
    floating: 'json',
    lastFence: 'int not null',
    // Which people have its seats, and their devices.
    named: 'json',
    // The relays that give out some of its seats.
    relays: 'json not null',
    // Which of those are borrowed, and until when.
    borrowed: 'json',
    // When it was last recorded that none was left.
    exhaustedAt: 'timestamptz',
    // What was noticed of its sharing.
    sharing: 'json',
    // How many license files it got, by the day, as far as they count toward what its key type allows.
    filesByDay: 'json',
    // When the last of them ends, and of those for a key that was replaced.
    filesUntil: 'timestamptz',
    formerKeyFilesUntil: 'timestamptz',
    // When the last of those ends that must not be used any more because of the license itself.
    withdrawnUntil: 'timestamptz',
    revokedAt: 'timestamptz',
    revokedReason: 'text',
    revokedCause: 'text',
    refundedAt: 'timestamptz',
    // Payments of its sale whose money went back.
    refundedPayments: 'json not null',
    saleThrough: 'int not null',
    // What its sale entitled to when it was last followed.
    sold: 'json',
    subjectId: 'text',
    email: 'text',
    name: 'text',
    customerId: 'text',
    linkedBy: 'text',
    // The customer that it belongs to but for merges.
    mergedFrom: 'text',
    formerCustomers: 'text[]',
    source: 'text not null',
    saleId: 'text',
    test: 'boolean not null',
    metadata: 'json not null',
    createdAt: 'timestamptz not null',
    // When it was last renewed.
    renewedAt: 'timestamptz',
    // The last moment of a build that it covers, and up to when the payments of its sale count toward it.
    updatesUntil: 'timestamptz',
    updatesPaidAt: 'timestamptz',
  },
  {
    key: ['licenseId'],
    over: 'older row',
    fillFactor: 85,
    indexes: {
      licenses_of_product: '(tenant_id, product_id, created_at desc, license_id desc)',
      licenses_of_subject:
        '(tenant_id, subject_id, created_at desc, license_id desc) where subject_id is not null',
      licenses_of_customer: '(customer_id, created_at desc, license_id desc) where customer_id is not null',
      licenses_of_former_customers: 'using gin (former_customers) where former_customers is not null',
      licenses_moved: '(merged_from) where merged_from is not null',
      licenses_with_withdrawn_files: withdrawingLicenses,
      licenses_with_floating_seats: '(tenant_id, product_id) where floating is not null',
      licenses_to_link: `(tenant_id, created_at, license_id) where ${isToLink}`,
      ...expiriesIndexes,
      ...filterIndexes,
    },
  },
)

/** A row of `licenses`, with times as in the log: ISO 8601 in UTC, with milliseconds. */
export type LicenseRow = RowOf<LicenseFields>

/** Every key a license ever had. Only its newest one is current; an older one answers "reminted". */
export const licenseKeys = defineTable(
  'license_keys',
  {
    tenantId: 'text not null',
    productId: 'text not null',
    keyHash: 'text not null',
    licenseId: 'text not null',
    current: 'boolean not null',
    // What of the key is shown behind its prefix.
    ending: 'text not null',
    // Of a key of one person: who that is, and whether they have a seat. Their newest key is current, also without a seat.
    personId: 'text',
    isSeated: 'boolean',
  },
  {
    key: ['tenantId', 'productId', 'keyHash'],
    over: 'row',
    indexes: {
      license_keys_by_ending: '(tenant_id, ending, license_id desc)',
      license_keys_of_people: '(person_id, license_id) where is_seated',
    },
  },
)

type DeviceFields = Seat & {
  licenseId: string
  tenantId: string
  fileEndsAt: string | null
  withdrawnUntil: string | null
}

export const devices = defineTable<DeviceFields>(
  'devices',
  {
    licenseId: 'text not null',
    deviceId: 'text not null',
    tenantId: 'text not null',
    instanceId: 'text not null',
    installId: 'text',
    name: 'text not null',
    platform: 'text',
    // What the machine is recognized by, and what it was recognized by before.
    identity: 'jsonb',
    former: 'jsonb',
    inTwoPlacesAt: 'timestamptz',
    // The name that the customer gave it, sealed, and whose key it is sealed under.
    givenName: 'jsonb',
    // The license files that were made for it.
    files: 'jsonb',
    // When the one ends that keeps its seat taken.
    fileEndsAt: 'timestamptz',
    // Of a floating seat.
    fence: 'int',
    // Whose device it is, where the seats are of people.
    personId: 'text',
    // When the last of those ends that it must not use any more, whatever becomes of the license.
    withdrawnUntil: 'timestamptz',
    status: 'text not null',
    activatedAt: 'timestamptz not null',
    deactivatedAt: 'timestamptz',
  },
  {
    key: ['licenseId', 'deviceId'],
    over: 'row',
    indexes: {
      // Apps ask by the id that they were given, and activate themselves again by their name or former id.
      devices_by_instance: '(instance_id, license_id)',
      devices_by_name: "(license_id, name) where status = 'active'",
      devices_by_identity:
        "using gin (identity jsonb_path_ops) where status = 'active' and identity is not null",
      devices_floating: "(license_id, device_id) where status = 'active' and fence is not null",
      devices_by_install: "(license_id, install_id) where status = 'active' and install_id is not null",
      devices_with_withdrawn_files: withdrawingDevices,
      // People look for devices of a whole tenant.
      devices_by_age: '(tenant_id, activated_at desc, license_id desc, device_id desc)',
      devices_by_own_id: '(tenant_id, device_id text_pattern_ops, activated_at desc)',
      devices_by_any_name: '(tenant_id, lower(name) text_pattern_ops)',
    },
  },
)

export type DeviceRow = RowOf<DeviceFields>

/** Columns joined from a license's key type and customer; null without a key type or customer. */
export type EntitlingColumns = {
  entitlements: string[] | null
  fallback_entitlements: string[] | null
  entitlement_values: EntitlementValues | null
  overrides: EntitlementOverride[] | null
}

export function entitlingFrom(row: EntitlingColumns): Entitling {
  return {
    entitlements: row.entitlements ?? [],
    fallbackEntitlements: row.fallback_entitlements ?? [],
    entitlementValues: row.entitlement_values ?? {},
    overrides: row.overrides ?? [],
  }
}

/** A device's columns, to select beside its license's. Both tables have `name`, so the device's is renamed. */
export const joinedDevice = `
  d.device_id, d.instance_id, d.install_id, d.name as device_name, d.platform, d.identity, d.former,
  d.in_two_places_at, d.given_name, d.files, d.file_ends_at, d.fence, d.person_id, d.status as device_status,
  d.activated_at, d.deactivated_at`

export type JoinedDevice = { device_name: string | null; device_status: DeviceRow['status'] } & (
  | Omit<DeviceRow, 'name' | 'status' | 'license_id' | 'tenant_id'>
  | { device_id: null }
)

/** The seat of a joined row: one or none. */
export function seatsIn(row: LicenseRow & JoinedDevice): Seat[] {
  if (row.device_id === null) return []
  return [seatFrom({ ...row, name: row.device_name ?? '', status: row.device_status })]
}

/** What of a license is written to its row. */
export const fieldsOf = (
  { holder, ...license }: IssuedLicense,
  { revision, endSetAt, filesUntil, formerKeyFilesUntil, renewedAt }: Noted & { revision: number },
): LicenseFields => ({
  ...license,
  revision,
  endsAt: endOf(license),
  endSetAt,
  filesUntil,
  formerKeyFilesUntil,
  renewedAt,
  withdrawnUntil: isBarred(license) ? filesUntil : formerKeyFilesUntil,
  subjectId: holder?.subjectId ?? null,
  email: holder?.email ?? null,
  name: holder?.name ?? null,
})

/** @param seats the loaded seats; the license gets no others */
export function licenseFrom(row: LicenseRow, seats: readonly Seat[]): IssuedLicense {
  const {
    revision: _,
    endsAt: __,
    endSetAt: ___,
    filesUntil: ____,
    formerKeyFilesUntil: _____,
    withdrawnUntil: ______,
    renewedAt: _______,
    subjectId,
    email,
    name,
    ...license
  } = licenses.fieldsIn(row)
  return {
    ...license,
    status: 'issued',
    holder: subjectId === null ? null : { subjectId, email, name },
    seats: new Map(seats.map((seat) => [seat.deviceId, seat])),
  }
}

/** What of a device is written to its row. */
export const deviceFieldsOf = (
  { licenseId, tenantId }: Pick<IssuedLicense, 'licenseId' | 'tenantId'>,
  seat: Seat,
): DeviceFields => ({
  ...seat,
  licenseId,
  tenantId,
  fileEndsAt: keptUntil(seat.files),
  withdrawnUntil: withdrawnUntil(seat.files ?? []),
})

export function seatFrom(row: DeviceRow): Seat {
  const { licenseId: _, tenantId: __, fileEndsAt: ___, withdrawnUntil: ____, ...seat } = devices.fieldsIn(row)
  return seat
}
