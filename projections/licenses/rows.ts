import type { EntitlementOverride } from '../../src/domain/customers/overrides.ts'
import type { IssuedLicense, Seat } from '../../src/domain/licenses/license.ts'
import type { Entitling } from './entitlements.ts'

/** A row of `licenses`, with times as in the log: ISO 8601 in UTC, with milliseconds. */
export type LicenseRow = {
  license_id: string
  tenant_id: string
  product_id: string
  key_type_id: string
  revision: number
  key_hash: string
  display_key: string
  quantity: number
  device_limit: number | null
  seats_used: number
  expires_at: string | null
  on_expiry: 'expire' | 'fallback'
  ended_at: string | null
  taken_back_at: string | null
  suspended_at: string | null
  suspended_reason: string | null
  key_mail_asked_at: string | null
  freed_by_customer_at: readonly string[]
  revoked_at: string | null
  revoked_reason: string | null
  revoked_cause: IssuedLicense['revokedCause']
  refunded_at: string | null
  refunded_payments: readonly string[]
  sale_through: number
  sold: IssuedLicense['sold']
  subject_id: string | null
  email: string | null
  name: string | null
  customer_id: string | null
  source: IssuedLicense['source']
  sale_id: string | null
  test: boolean
  metadata: Record<string, string>
  created_at: string
}

export type DeviceRow = {
  license_id: string
  device_id: string
  instance_id: string
  install_id: string | null
  name: string
  platform: string | null
  given_name: Seat['givenName']
  status: 'active' | 'deactivated'
  activated_at: string
  deactivated_at: string | null
}

/** Columns joined from a license's key type and customer; null without a key type or customer. */
export type EntitlingColumns = {
  entitlements: string[] | null
  fallback_entitlements: string[] | null
  overrides: EntitlementOverride[] | null
}

export function entitlingFrom(row: EntitlingColumns): Entitling {
  return {
    entitlements: row.entitlements ?? [],
    fallbackEntitlements: row.fallback_entitlements ?? [],
    overrides: row.overrides ?? [],
  }
}

/** A device's columns, to select beside its license's. Both tables have `name`, so the device's is renamed. */
export const joinedDevice = `
  d.device_id, d.instance_id, d.install_id, d.name as device_name, d.platform, d.given_name, d.status as device_status,
  d.activated_at, d.deactivated_at`

export type JoinedDevice = { device_name: string | null; device_status: DeviceRow['status'] } & (
  | Omit<DeviceRow, 'name' | 'status' | 'license_id'>
  | { device_id: null }
)

/** The device of a joined row: one or none. */
export function devicesIn(row: LicenseRow & JoinedDevice): DeviceRow[] {
  if (row.device_id === null) return []
  return [{ ...row, name: row.device_name ?? '', status: row.device_status }]
}

/** @param devices the loaded seats; the license gets no others */
export function licenseFrom(row: LicenseRow, devices: readonly DeviceRow[]): IssuedLicense {
  return {
    status: 'issued',
    licenseId: row.license_id,
    tenantId: row.tenant_id,
    productId: row.product_id,
    keyTypeId: row.key_type_id,
    keyHash: row.key_hash,
    displayKey: row.display_key,
    quantity: row.quantity,
    deviceLimit: row.device_limit,
    seatsUsed: row.seats_used,
    expiresAt: row.expires_at,
    onExpiry: row.on_expiry,
    endedAt: row.ended_at,
    takenBackAt: row.taken_back_at,
    suspendedAt: row.suspended_at,
    suspendedReason: row.suspended_reason,
    keyMailAskedAt: row.key_mail_asked_at,
    freedByCustomerAt: row.freed_by_customer_at,
    revokedAt: row.revoked_at,
    revokedReason: row.revoked_reason,
    revokedCause: row.revoked_cause,
    refundedAt: row.refunded_at,
    refundedPayments: row.refunded_payments,
    saleThrough: row.sale_through,
    sold: row.sold,
    holder: row.subject_id === null ? null : { subjectId: row.subject_id, email: row.email, name: row.name },
    customerId: row.customer_id,
    source: row.source,
    saleId: row.sale_id,
    test: row.test,
    metadata: row.metadata,
    createdAt: row.created_at,
    seats: new Map(devices.map((device) => [device.device_id, seatFrom(device)])),
  }
}

export function seatFrom(row: DeviceRow): Seat {
  return {
    deviceId: row.device_id,
    instanceId: row.instance_id,
    installId: row.install_id,
    name: row.name,
    platform: row.platform,
    givenName: row.given_name,
    status: row.status,
    activatedAt: row.activated_at,
    deactivatedAt: row.deactivated_at,
  }
}

/** The row to write, with times as in the log. */
export function licenseColumns(license: IssuedLicense, revision: number): Record<keyof LicenseRow, unknown> {
  return {
    license_id: license.licenseId,
    tenant_id: license.tenantId,
    product_id: license.productId,
    key_type_id: license.keyTypeId,
    revision,
    key_hash: license.keyHash,
    display_key: license.displayKey,
    quantity: license.quantity,
    device_limit: license.deviceLimit,
    seats_used: license.seatsUsed,
    expires_at: license.expiresAt,
    on_expiry: license.onExpiry,
    ended_at: license.endedAt,
    taken_back_at: license.takenBackAt,
    suspended_at: license.suspendedAt,
    suspended_reason: license.suspendedReason,
    key_mail_asked_at: license.keyMailAskedAt,
    freed_by_customer_at: license.freedByCustomerAt,
    revoked_at: license.revokedAt,
    revoked_reason: license.revokedReason,
    revoked_cause: license.revokedCause,
    refunded_at: license.refundedAt,
    refunded_payments: license.refundedPayments,
    sale_through: license.saleThrough,
    sold: license.sold,
    subject_id: license.holder?.subjectId ?? null,
    email: license.holder?.email ?? null,
    name: license.holder?.name ?? null,
    customer_id: license.customerId,
    source: license.source,
    sale_id: license.saleId,
    test: license.test,
    metadata: license.metadata,
    created_at: license.createdAt,
  }
}

export function deviceColumns(
  { licenseId, tenantId }: IssuedLicense,
  seat: Seat,
): Record<keyof DeviceRow | 'tenant_id', unknown> {
  return {
    license_id: licenseId,
    tenant_id: tenantId,
    device_id: seat.deviceId,
    instance_id: seat.instanceId,
    install_id: seat.installId,
    name: seat.name,
    platform: seat.platform,
    given_name: seat.givenName,
    status: seat.status,
    activated_at: seat.activatedAt,
    deactivated_at: seat.deactivatedAt,
  }
}
