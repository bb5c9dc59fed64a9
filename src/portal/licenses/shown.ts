import { entitlementsFor, entitlementValuesFor } from '../../../projections/licenses/entitlements.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { listSeated } from '../../../projections/licenses/queries.ts'
import { findMail } from '../../../projections/mails.ts'
import { findMetering } from '../../../projections/meters/licenses.ts'
import { findSaleOfLicense } from '../../../projections/sales/queries.ts'
import { allowFiles } from '../../commands/devices/files.ts'
import { allowRelays } from '../../commands/devices/relays.ts'
import { seatFreesOf } from '../../commands/licenses/by-customer.ts'
import { isSendable } from '../../commands/licenses/send-key.ts'
import { metersOfLicense } from '../../commands/meters/meters.ts'
import { momentOf } from '../../commands/origin.ts'
import { freesLeft } from '../../domain/licenses/customer.ts'
import { graceUntilAt } from '../../domain/licenses/grace.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { seatsOfRelay } from '../../domain/licenses/relay-seats.ts'
import { liveFile } from '../../domain/licenses/seat-files.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { type LicenseStatus, statusAt } from '../../domain/licenses/status.ts'
import { plainText } from '../../domain/plain-text.ts'
import type { EntitlementValues } from '../../domain/products/entitlement-values.ts'
import type { Duration } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { readSeatEnds } from '../../seats/read-ends.ts'
import { readTelemetry } from '../../usage/device-telemetry.ts'
import { usageRange } from '../../usage/range.ts'
import { readMeteredUse } from '../../usage/read-metered.ts'
import { readStandings, type StandingMeter, useOf } from '../../usage/standing-meters.ts'
import type { PortalContext } from '../context.ts'
import type { Customer } from '../visit.ts'
import { type PersonSeats, personSeatsOf } from './person-seats.ts'

/** A license as its person sees it in a list. */
export type ShownLicense = {
  licenseId: string
  productName: string
  planName: string
  displayKey: string
  status: LicenseStatus
  expiresAt: string | null
  /** The term that starts at its first activation; null if none waits for that. */
  startsWith: Duration | null
  /** The end of its grace while it is active after its expiry, else null. */
  graceUntil: string | null
  updatesUntil: string | null
  quantity: number
  seatsUsed: number
  deviceLimit: number | null
  isFloating: boolean
  /** Whether people have its seats. */
  isNamed: boolean
  entitlements: readonly string[]
  entitlementValues: EntitlementValues
  createdAt: string
}

/** A device in a seat. `name` is what the person called it, else what its app reported. */
export type ShownDevice = {
  instanceId: string
  name: string
  reportedName: string
  since: string
  seenAt: string | null
  /** Until when its license file keeps the seat taken; null without one. */
  heldUntil: string | null
  /** Until when a floating seat lasts without a call; null for others, and where it is not set yet. */
  endsAt: string | null
  /** Whether it is in the seat that the one who looks has as a person. */
  isOwn: boolean
}

type Order = { saleId: string; soldAt: string; amount: number; currency: string; test: boolean }

/** What the page of one license shows besides. */
export type LicenseDetails = {
  license: ShownLicense
  /** False for a member of an organization, who only sees it. */
  mayChange: boolean
  devices: ShownDevice[]
  /** The seats that people have; undefined where they are of devices. */
  seats: PersonSeats | undefined
  /** How many seats may be freed now, of how many within 30 days. */
  frees: { most: number; left: number; nextAt: string | null }
  order: Order | null
  /** Whether the key can be sent again, and whether it can be replaced: by its holder alone, who gets it by mail. */
  maySendKey: boolean
  mayReplaceKey: boolean
  /** Whether license files can be had here. */
  mayGetFiles: boolean
  /** Whether relays can be had here, and those that take seats. */
  mayHaveRelays: boolean
  relays: { name: string; seats: number; endsAt: string; isCopied: boolean }[]
  /** What was used under its meters. */
  meters: ShownMeter[]
}

/** How a meter stands, and what was used under it in each of the last days. */
export type ShownMeter = StandingMeter & { days: { at: string; used: bigint }[] }

/** More seats than a person would look through. */
const mostDevices = 500

export async function shownLicense(
  ports: PortalContext['ports'],
  entry: LicenseEntry,
): Promise<ShownLicense> {
  const { license } = entry
  const now = momentOf(ports)
  const status = statusAt(license, now)
  const product = await ports.findProduct(license.tenantId, license.productId)
  const entitlements = entitlementsFor(status, entry, now)
  return {
    licenseId: license.licenseId,
    productName: product?.name ?? license.productId,
    planName: (product && findKeyType(product, license.keyTypeId)?.name) ?? license.keyTypeId,
    displayKey: license.displayKey,
    status,
    expiresAt: license.expiresAt,
    startsWith: license.startsWith,
    graceUntil: status === 'active' ? graceUntilAt(license, now) : null,
    updatesUntil: license.updatesUntil,
    quantity: license.quantity,
    seatsUsed: license.seatsUsed,
    deviceLimit: license.deviceLimit,
    isFloating: license.floating !== null,
    isNamed: license.named !== null,
    entitlements,
    entitlementValues: entitlementValuesFor(entitlements, entry, now) ?? {},
    createdAt: license.createdAt,
  }
}

export async function licenseDetails(
  ports: PortalContext['ports'],
  entry: LicenseEntry,
  customer: Customer,
  mayChange = true,
): Promise<LicenseDetails> {
  const { license } = entry
  const { tenantId, productId } = license
  const product = await ports.findProduct(tenantId, productId)
  const most = seatFreesOf(product?.settings ?? {})
  const isHolder = isHeldBy(license, customer)
  const seats = await personSeatsOf(ports, license, customer, mayChange)
  return {
    license: await shownLicense(ports, entry),
    mayChange,
    devices: await devicesOf(ports, license, seats?.own?.personId),
    seats,
    frees: { most, ...freesLeft(license, most, momentOf(ports)) },
    order: await orderOf(ports, license, customer),
    maySendKey: isHolder && (await isSendable(ports, license)),
    mayGetFiles:
      mayChange && (product?.settings.customerFiles ?? false) && (await allowFiles(ports, license)),
    mayHaveRelays:
      mayChange && (product?.settings.customerFiles ?? false) && (await allowRelays(ports, license)),
    relays: relaysOf(license, momentOf(ports)),
    meters: await metersOf(ports, license),
    mayReplaceKey:
      isHolder &&
      license.revokedAt === null &&
      (product?.settings.customerKeyReplacement ?? false) &&
      (await findMail(ports.db, tenantId, productId)).settings.enabled,
  }
}

async function metersOf(
  { db, now }: PortalContext['ports'],
  { tenantId, licenseId }: IssuedLicense,
): Promise<ShownMeter[]> {
  const metering = await findMetering(db, tenantId, licenseId)
  const usable = metering ? metersOfLicense(metering) : []
  if (usable.length === 0) return []
  const at = now().toISOString()
  const range = usageRange({ granularity: 'day' }, at)
  if (typeof range === 'string') throw new Error(`the last days are ${range}`)
  const [meters, uses] = await Promise.all([
    readStandings(db, usable, at),
    readMeteredUse(db, { tenantId, licenseId }, range),
  ])
  return meters.map((meter) => ({
    ...meter,
    days: useOf(meter, uses)?.points ?? [],
  }))
}

const relaysOf = ({ relays }: IssuedLicense, now: string): LicenseDetails['relays'] =>
  relays.flatMap((relay) => {
    const seats = seatsOfRelay(relay, now)
    const { name, endsAt, forkedAt } = relay
    return seats === 0 ? [] : [{ name: plainText(name), seats, endsAt, isCopied: forkedAt !== null }]
  })

/** Whether the license is for this person, and not only linked to a customer that they are. */
const isHeldBy = ({ holder }: IssuedLicense, { subjectId }: Pick<Customer, 'subjectId'>): boolean =>
  holder?.subjectId === subjectId && holder.email !== null

async function devicesOf(
  ports: PortalContext['ports'],
  { tenantId, licenseId, floating }: IssuedLicense,
  ownPersonId: string | undefined,
): Promise<ShownDevice[]> {
  const taken = await listSeated(ports.db, licenseId, mostDevices)
  const ends = floating && (await readSeatEnds(ports.db, licenseId, taken))
  const endOf = new Map(ends?.map(({ deviceId, endsAt }) => [deviceId, endsAt]))
  const now = momentOf(ports)
  // A borrowed seat is in use until its file ends.
  const isInUse = ({ deviceId, files }: Seat) => endOf.has(deviceId) || liveFile(files, now) !== undefined
  const seats = ends ? taken.filter(isInUse) : taken
  const telemetry = await readTelemetry(ports.db, licenseId)
  const given = await ports.subjects.openDeviceNames(
    tenantId,
    seats.map(({ givenName }) => givenName),
  )
  return seats.map(({ deviceId, instanceId, name, activatedAt, files, personId }, index) => ({
    instanceId,
    // Names in attributes and forms too, which the templates leave as they are.
    name: plainText(given[index] ?? name),
    reportedName: plainText(name),
    since: activatedAt,
    seenAt: telemetry.get(instanceId)?.seenAt ?? null,
    heldUntil: liveFile(files, now)?.endsAt ?? null,
    endsAt: endOf.get(deviceId) ?? null,
    isOwn: personId !== null && personId === ownPersonId,
  }))
}

/** The order that the license was issued for, if the person placed it. */
async function orderOf(
  ports: PortalContext['ports'],
  { tenantId, licenseId, saleId }: IssuedLicense,
  { subjectId }: Customer,
): Promise<Order | null> {
  if (saleId === null) return null
  const sale = await findSaleOfLicense(ports.db, tenantId, licenseId)
  if (sale?.customer?.subjectId !== subjectId) return null
  const { soldAt, amount, currency, test } = sale
  return { saleId: sale.saleId, soldAt, amount, currency, test }
}
