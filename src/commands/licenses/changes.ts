import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { type DeviceRef, findSeat } from '../../../projections/licenses/seats.ts'
import { newLicenseKey } from '../../credentials/license-key.ts'
import { licenses } from '../../domain/licenses/license.ts'
import type { PortalLanguage } from '../../domain/portal/languages.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { keepKey, sealKeyToMail } from './keys.ts'
import { requireLicense, stateOf } from './licenses.ts'

/** A license, and why it is changed. */
type Place = { tenantId: string; licenseId: string; reason?: string | null | undefined }

/** What a new key of a license uses; the portal calls it as well. */
type RemintPorts = Ports<'db' | 'execute' | 'findProduct' | 'keptKeys' | 'now' | 'randomBytes' | 'secrets'>

/**
 * Gives a license a new key; validates with the old one get `reminted`.
 * @param keepDevices whether the devices keep their seats, or all of them are freed
 * @param sendKey whether the new key is sent to the holder by mail
 * @returns the license, and its new raw key, which is stored only if it is to be sent or kept
 * @throws Refusal `license_not_found`, `license_revoked`, `license_without_address`, `mails_off`
 */
export async function remintLicense(
  ports: RemintPorts,
  {
    tenantId,
    licenseId,
    keepDevices,
    sendKey = false,
    language,
    reason,
  }: Place & {
    keepDevices: boolean
    sendKey?: boolean | undefined
    /** The customer's, for the mail. */
    language?: PortalLanguage | undefined
  },
  origin: Origin,
): Promise<LicenseEntry & { licenseKey: string }> {
  const find = () => requireLicense(ports, tenantId, licenseId)
  const at = momentOf(ports)
  const found = await find()
  const product = await ports.findProduct(tenantId, found.license.productId)
  if (!product) throw new Refusal('product_not_found')
  const key = newLicenseKey(product.keyPrefix, ports.randomBytes)
  const { licenseKey, keyHash, displayKey } = key
  if (sendKey) await sealKeyToMail(ports, found.license, key)
  await ports.execute(
    licenses,
    licenseId,
    async (license) => {
      if (license.status === 'issued') await keepKey(ports, product, license, key)
      return { type: 'RemintLicense', keyHash, displayKey, keepDevices, sendKey, language, reason, at }
    },
    causeOf(origin, at),
    { loaded: stateOf(found), read: async () => stateOf(await find()), run: origin.run },
  )
  return { ...(await find()), licenseKey }
}

/**
 * Frees the seat of a device on behalf of the vendor. A device that no longer has a seat is left unchanged.
 * @returns the product, for its usage counts
 * @throws Refusal `license_not_found`, `device_not_found` for a device that never had a seat on the license
 */
export async function removeDevice(
  ports: Ports<'db' | 'execute' | 'now'>,
  { tenantId, licenseId, device, reason }: Place & { device: DeviceRef },
  origin: Origin,
): Promise<{ productId: string }> {
  const at = momentOf(ports)
  const find = async () => {
    const entry = await findSeat(ports.db, tenantId, licenseId, device)
    if (!entry) throw new Refusal('license_not_found')
    if (!entry.seat) throw new Refusal('device_not_found')
    return { ...entry, deviceId: entry.seat.deviceId }
  }
  const found = await find()
  const { deviceId } = found
  await ports.execute(
    licenses,
    licenseId,
    { type: 'DeactivateDevice', deviceId, reason, at },
    causeOf(origin, at),
    { loaded: stateOf(found), read: async () => stateOf(await find()), run: origin.run },
  )
  return { productId: found.license.productId }
}
