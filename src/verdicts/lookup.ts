import { type HistoryEntry, readEffectiveEvents } from '../../projections/history/queries.ts'
import { countSeatedDevices } from '../../projections/licenses/active-devices.ts'
import { findLicense, listSeated } from '../../projections/licenses/queries.ts'
import type { RuntimeLookupParams } from '../../projections/licenses/runtime.ts'
import { findTenant, type PresentTenant } from '../../projections/tenants.ts'
import { type FoundLicense, isPlanFull } from '../commands/devices/devices.ts'
import { momentOf } from '../commands/origin.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { keptUntil } from '../domain/licenses/seat-files.ts'
import type { Seat } from '../domain/licenses/seats.ts'
import { Refusal } from '../domain/refusal.ts'
import { activeDevicesThen, licenseAsOf, seatsInOrder } from '../history/as-of.ts'
import type { AsOf } from '../history/moment.ts'
import type { Ports } from '../ports.ts'
import { type RuntimeStatus, verdictOn } from './answer.ts'
import { StateUnreadable } from './errors.ts'

/** Everything that decides the answer to a device, at one moment. */
export type LicenseLookup = {
  /** The result of the runtime interface's look-up by the license's own key. */
  result: FoundLicense
  deviceId: string | undefined
  at: string
  tenant: Pick<PresentTenant, 'status' | 'plan'>
  planIsFull: boolean
  /** The active devices, oldest activation first; at most {@link maxSeatsListed}. */
  seated: Seat[]
  /** The events that decided, oldest first. */
  deciding: HistoryEntry[]
}

type Question = {
  tenantId: string
  licenseId: string
  deviceId?: string | undefined
  asOf?: AsOf | undefined
}

/** More seats than a readable sentence can list. */
const maxSeatsListed = 20

/**
 * @throws Refusal `license_not_found`, `moment_in_the_future`; StateUnreadable while the read models are
 *   about to change
 */
export function lookUpLicense(
  ports: Ports<'db' | 'findForRuntime' | 'ledger' | 'now'>,
  question: Question,
): Promise<LicenseLookup> {
  return question.asOf ? lookUpAsOf(ports, question, question.asOf) : lookUpNow(ports, question)
}

/** Uses the same look-up as the runtime interface. */
async function lookUpNow(
  ports: Ports<'db' | 'findForRuntime' | 'ledger' | 'now'>,
  question: Question,
): Promise<LicenseLookup> {
  const { tenantId, licenseId, deviceId } = question
  const { db } = ports
  const at = momentOf(ports)
  const entry = await findLicense(db, tenantId, licenseId)
  if (!entry) throw new Refusal('license_not_found')
  const { productId, takenBackAt } = entry.license
  // Its key no longer exists, or belongs to another license.
  if (takenBackAt !== null) return lookUpAsOf(ports, question, { time: at })
  const stored = { keyHash: keyOfDevice(entry.license, deviceId), keyedHash: null }
  const result = await ports.findForRuntime({ tenantId, productId, ...stored, deviceId: deviceId ?? '' })
  if (result.kind !== 'license' || result.license.licenseId !== licenseId)
    throw new StateUnreadable('the license is changing right now; try again')
  const tenant = await findTenant(db, tenantId)
  if (!tenant) throw new StateUnreadable('the state of this tenant cannot be read right now; try again')
  const seated = await listSeated(db, licenseId, maxSeatsListed)
  const devices = [...(deviceId === undefined ? [] : [deviceId]), ...seated.map((seat) => seat.deviceId)]
  const deciding = await readEffectiveEvents(db, licenseId, result.revision, devices)
  const planIsFull = await isPlanFull(tenant.plan, () => countSeatedDevices(db, tenantId))
  return { result, deviceId, at, tenant, planIsFull, seated, deciding }
}

/** Of a device that a person has, the key of that person; else the license's. */
const keyOfDevice = ({ keyHash, named }: IssuedLicense, deviceId = ''): string =>
  Object.values(named?.people ?? {}).find(({ deviceIds }) => deviceIds.includes(deviceId))?.keyHash ?? keyHash

async function lookUpAsOf(
  ports: Ports<'db' | 'ledger' | 'now'>,
  { tenantId, licenseId, deviceId }: Question,
  asOf: AsOf,
): Promise<LicenseLookup> {
  const then = await licenseAsOf(ports, tenantId, licenseId, asOf)
  const { license, revision, entitlements, fallbackEntitlements, entitlementValues, overrides, at } = then
  const { tenant, deciding } = then
  const seated = seatsInOrder(license).filter(({ status }) => status === 'active')
  const own = deviceId === undefined ? undefined : license.seats.get(deviceId)
  return {
    result: {
      kind: 'license',
      licenseId,
      revalidateAfterSeconds: then.product.settings.revalidateAfterSeconds,
      license,
      revision,
      deviceMails: then.product.settings.deviceMails ?? null,
      entitlements,
      fallbackEntitlements,
      entitlementValues,
      overrides,
      seated: own?.status === 'active',
      seatedByAnother: false,
      withoutSeat: false,
      personId: own?.personId ?? null,
      fence: own?.fence ?? null,
      fileEndsAt: keptUntil(own?.files ?? null),
      uncertain: false,
    },
    deviceId,
    at,
    tenant,
    planIsFull: await isPlanFull(tenant.plan, () => activeDevicesThen(ports, then)),
    seated: seated.slice(0, maxSeatsListed),
    deciding,
  }
}

/**
 * The status that a validate of a key without a device is answered now, by the code that answers the call. A license's
 * former key has an answer of its own.
 * @returns undefined while the state of the license cannot be read
 */
export async function statusOfKey(
  ports: Ports<'findForRuntime' | 'now'>,
  key: Omit<RuntimeLookupParams, 'deviceId'>,
): Promise<RuntimeStatus | undefined> {
  const found = await ports.findForRuntime({ ...key, deviceId: '' })
  try {
    return verdictOn(found, false, momentOf(ports)).status
  } catch (error) {
    if (error instanceof StateUnreadable) return undefined
    throw error
  }
}
