import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { LicenseEdit } from '../../domain/licenses/edit.ts'
import type { Holder } from '../../domain/licenses/events.ts'
import { wholeSeconds } from '../../domain/licenses/expiry.ts'
import { termsFrom } from '../../domain/licenses/issue.ts'
import { type IssuedLicense, type License, licenses } from '../../domain/licenses/license.ts'
import { updatesOfNewKeyType } from '../../domain/licenses/updates.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { asciiEmail } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { unknownPerson } from '../../vault/subjects.ts'
import { usingKeyType } from '../cross-stream/key-type-use.ts'
import { customerByAddress } from '../customers/by-address.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { passKeyOn } from './keys.ts'
import type { LicensePorts } from './licenses.ts'
import { requireLicense, stateOf } from './licenses.ts'

/** What a vendor asks to change; an absent field keeps its value. */
export type LicenseChange = {
  keyTypeId?: string | undefined
  quantity?: number | undefined
  deviceLimit?: number | null | undefined
  expiresAt?: string | null | undefined
  /** null removes the person. */
  email?: string | null | undefined
  name?: string | null | undefined
  metadata?: Record<string, string> | undefined
  /** null covers every build. */
  updatesUntil?: string | null | undefined
}

type Input = { tenantId: string; licenseId: string; reason: string | null }

/**
 * Changes a license on behalf of its vendor. Changing the key type or quantity sets a new device limit, unless one is given.
 * @throws Refusal `license_not_found`, `license_revoked`, `key_type_not_found`, `quantity_not_allowed`,
 *   `quantity_too_large`, `expiry_in_the_past`, `name_without_email`
 */
export async function editLicense(
  ports: LicensePorts,
  { tenantId, licenseId, reason }: Input,
  change: LicenseChange,
  origin: Origin,
): Promise<LicenseEntry> {
  const find = () => requireLicense(ports, tenantId, licenseId)
  const found = await find()
  const at = momentOf(ports)
  const execute = (proof?: () => Promise<void>) =>
    ports.execute(
      licenses,
      licenseId,
      async (license: License) => {
        if (license.status === 'absent') throw new Refusal('license_not_found')
        const edit = await editOf(ports, license, change, at)
        const command = { type: 'EditLicense', edit, reason, at } as const
        // An edit that is refused, or changes nothing, keeps no key and makes no customer either.
        if (licenses.decide(license, command).length === 0) return undefined
        if (edit.holder !== undefined) await passKeyOn(ports, license, edit.holder)
        const newHolder = license.linkedBy === 'person' ? null : (edit.holder ?? null)
        const { customerId } = await customerByAddress(ports, tenantId, newHolder, origin)
        return { ...command, customerId: customerId ?? undefined }
      },
      causeOf(origin, at),
      { loaded: stateOf(found), read: async () => stateOf(await find()), run: origin.run, proof },
    )
  const { productId } = found.license
  const { keyTypeId } = change
  if (keyTypeId === undefined || keyTypeId === found.license.keyTypeId) await execute()
  else await usingKeyType(ports, { tenantId, productId, keyTypeId }, execute)
  return find()
}

async function editOf(
  ports: Ports<'findProduct' | 'subjects'>,
  license: IssuedLicense,
  change: LicenseChange,
  at: string,
): Promise<LicenseEdit> {
  const { expiresAt, metadata, updatesUntil } = change
  return {
    deviceLimit: change.deviceLimit,
    ...(await planOf(ports, license, change, at)),
    expiresAt: expiresAt && wholeSeconds(expiresAt),
    holder: await holderOf(ports, license, change),
    metadata,
    ...(updatesUntil !== undefined && { updatesUntil: updatesUntil && wholeSeconds(updatesUntil) }),
  }
}

/** The rules of the key type apply where the key type or the quantity changes, as they do when a license is minted. */
async function planOf(
  ports: Ports<'findProduct'>,
  license: IssuedLicense,
  { keyTypeId = license.keyTypeId, quantity = license.quantity, deviceLimit }: LicenseChange,
  at: string,
): Promise<Pick<LicenseEdit, 'plan' | 'deviceLimit' | 'updatesUntil'>> {
  if (keyTypeId === license.keyTypeId && quantity === license.quantity) return {}
  const product = await ports.findProduct(license.tenantId, license.productId)
  const keyType = product && findKeyType(product, keyTypeId)
  if (!keyType) throw new Refusal('key_type_not_found')
  const terms = termsFrom(keyType, { quantity, deviceLimit }, at)
  return {
    plan: {
      keyTypeId,
      quantity: terms.quantity,
      onExpiry: keyType.onExpiry,
      graceSeconds: terms.graceSeconds,
    },
    deviceLimit: terms.deviceLimit,
    ...(keyTypeId !== license.keyTypeId && {
      updatesUntil: updatesOfNewKeyType(license, keyType.updates, at),
    }),
  }
}

/** @returns undefined if the person stays as it is, since sealing the same text again gives another one */
async function holderOf(
  { subjects }: Ports<'subjects'>,
  { tenantId, holder }: IssuedLicense,
  change: LicenseChange,
): Promise<Holder | null | undefined> {
  if (change.email === undefined && change.name === undefined) return undefined
  const [person = unknownPerson] = await subjects.openPeople(tenantId, [holder])
  const { email = person.email } = change
  if (email === null) {
    if (change.name) throw new Refusal('name_without_email')
    return person.email === null ? undefined : null
  }
  const { name = person.name } = change
  const isSame =
    person.email !== null && (asciiEmail(email) ?? email) === person.email && name === person.name
  return isSame ? undefined : subjects.sealPerson(tenantId, email, name)
}

/**
 * Suspends a license until it is resumed; meanwhile its key is not valid, and its expiry does not wait.
 * @throws Refusal `license_not_found`, `license_revoked`
 */
export const suspendLicense = (ports: SuspendPorts, input: Input, origin: Origin): Promise<LicenseEntry> =>
  changeSuspension(ports, input, 'SuspendLicense', origin)

/** @throws Refusal `license_not_found`, `license_revoked` */
export const resumeLicense = (ports: SuspendPorts, input: Input, origin: Origin): Promise<LicenseEntry> =>
  changeSuspension(ports, input, 'ResumeLicense', origin)

type SuspendPorts = Ports<'db' | 'execute' | 'now'>

async function changeSuspension(
  ports: SuspendPorts,
  { tenantId, licenseId, reason }: Input,
  type: 'SuspendLicense' | 'ResumeLicense',
  origin: Origin,
): Promise<LicenseEntry> {
  const find = () => requireLicense(ports, tenantId, licenseId)
  const read = async () => stateOf(await find())
  const at = momentOf(ports)
  const options = { read, run: origin.run }
  await ports.execute(licenses, licenseId, { type, reason, at }, causeOf(origin, at), options)
  return find()
}
