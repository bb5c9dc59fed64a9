import { entitlementsFor, entitlementValuesFor } from '../../../projections/licenses/entitlements.ts'
import { hasInstance } from '../../../projections/licenses/files.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { type IssuedLicense, type License, licenses } from '../../domain/licenses/license.ts'
import type { SeatFile } from '../../domain/licenses/seat-files.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import type { OfflineFiles } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { armored } from '../../signing/armor.ts'
import { type DeviceRequest, readRelease, readRequest } from '../../signing/device-statements.ts'
import { namedHolder } from '../../signing/holder.ts'
import { signLease2 } from '../../signing/lease2.ts'
import { planOf, seating } from '../cross-stream/plan-capacity.ts'
import { requireLicense } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { signingKeyOf } from '../signing-keys.ts'

/** What a license file needs. */
export type FilePorts = Ports<
  | 'db'
  | 'deviceHashing'
  | 'execute'
  | 'findProduct'
  | 'keyHashing'
  | 'newId'
  | 'now'
  | 'planCapacity'
  | 'randomBytes'
  | 'secrets'
  | 'signer'
  | 'subjects'
  | 'usage'
>

/** A license, and why its file is made or taken back. */
type Place = { tenantId: string; licenseId: string; reason?: string | null | undefined }

/** A license file that was made, as the text that the device takes. */
export type MadeFile = { seat: Seat; file: SeatFile; token: string; text: string }

/**
 * Makes a license file from the request of a device, which takes a seat if it has none. The same request gets the same file
 * again. The product's stream is read beside the license's: a file may follow the setting of its key type that was replaced a
 * moment before.
 * @param days how long it is good at most; undefined for as long as the key type allows
 * @throws Refusal `license_not_found`, `files_off`, `file_too_long`, `file_request_unreadable`,
 *   `file_request_of_another_license`, `plan_limit`, what `fileIssued` refuses
 * @throws SigningFailed before anything is recorded
 */
export async function issueFile(
  ports: FilePorts,
  {
    tenantId,
    licenseId,
    request: text,
    days,
    reason,
  }: Place & { request: string; days?: number | undefined },
  origin: Origin,
): Promise<MadeFile> {
  const at = momentOf(ports)
  const entry = await requireLicense(ports, tenantId, licenseId)
  const { productId } = entry.license
  const request = readRequest(text, { tenantId, productId })
  if (!request) throw new Refusal('file_request_unreadable')
  await requireKey(ports, entry, request)
  const allowed = await rulesFor(ports, entry.license)
  if (!allowed) throw new Refusal('files_off')
  const { rules, atLeast } = allowed
  if (days !== undefined && days > rules.maxDays) throw new Refusal('file_too_long')
  const key = await signingKeyOf(ports, tenantId, origin)
  await ports.signer.prepare(tenantId, key)
  const { said, name, instanceId, installId, deviceKey, nonce, counter } = request
  const identities = await ports.deviceHashing.identitiesOf(entry.license, said)
  const command = {
    type: 'IssueFile',
    fileId: ports.newId('fil'),
    instanceId: ports.newId('ins'),
    platform: null,
    claim: { instanceId, installId, name, identities },
    atLeast,
    request: { deviceKey, nonce, counter },
    seconds: (days ?? rules.maxDays) * 86_400,
    perSeatPerYear: rules.perSeatPerYear,
    reason,
    at,
  } as const
  const plan = { tenantId, plan: await planOf(ports.db, tenantId) }
  const { state, events } = await seating(ports, plan, (admit, proof) =>
    ports.execute(licenses, licenseId, command, causeOf(origin, at), { admit, proof, run: origin.run }),
  )
  const { license, seat, file } = madeFor(state, nonce)
  const status = statusAt(license, at)
  const entitlements = entitlementsFor(status, entry, at)
  const facts = {
    tenantId,
    productId,
    licenseId,
    keyHash: request.keyHash,
    instanceId: seat.instanceId,
    status,
    entitlements,
    values: entitlementValuesFor(entitlements, entry, at) ?? {},
    license,
    leaseSeconds: 0,
    device: said,
    holder: allowed.leaseHolder ? await namedHolder(ports, tenantId, license.holder) : undefined,
    file,
  }
  const token = await signLease2(ports.signer, key, facts, at)
  if (events.some(({ type }) => type === 'DeviceActivated'))
    ports.usage.count(tenantId, productId, 'activations')
  return { seat, file, token, text: armored('LICENSE', token) }
}

/**
 * Frees the seat of a device that gives its license file back. Sent twice, it does so once.
 * @throws Refusal `license_not_found`, `file_release_unreadable`, what `fileReleased` refuses
 */
export async function releaseFile(
  ports: Ports<'db' | 'execute' | 'now' | 'usage'>,
  { tenantId, licenseId, release: text, reason }: Place & { release: string },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const { license } = await requireLicense(ports, tenantId, licenseId)
  const { productId } = license
  const release = readRelease(text, { tenantId, productId })
  if (!release) throw new Refusal('file_release_unreadable')
  const { instanceId, deviceKey, serial } = release
  const command = { type: 'ReleaseFile', instanceId, deviceKey, serial, reason, at } as const
  const options = { run: origin.run }
  const { events } = await ports.execute(licenses, licenseId, command, causeOf(origin, at), options)
  if (events.some(({ type }) => type === 'DeviceDeactivated'))
    ports.usage.count(tenantId, productId, 'deactivations')
}

/**
 * Whether a device made a text for this license: a request with its key, or the release of a device that has or had a seat
 * on it.
 */
export async function isMadeFor(
  ports: Ports<'db' | 'keyHashing'>,
  entry: LicenseEntry,
  text: string,
): Promise<boolean> {
  const release = readRelease(text, entry.license)
  if (release) return hasInstance(ports.db, entry.license.licenseId, release.instanceId)
  const request = readRequest(text, entry.license)
  return request !== undefined && (await isOfKey(ports, entry, request))
}

/** @throws Refusal `file_request_of_another_license` when the request names another key than the license's present one */
async function requireKey(
  ports: Ports<'keyHashing'>,
  entry: LicenseEntry,
  request: DeviceRequest,
): Promise<void> {
  if (!(await isOfKey(ports, entry, request))) throw new Refusal('file_request_of_another_license')
}

/** Whether a text names the present key of a license. */
export async function isOfKey(
  { keyHashing }: Ports<'keyHashing'>,
  { license: { tenantId, keyHash: stored } }: LicenseEntry,
  { keyHash }: { keyHash: string },
): Promise<boolean> {
  if (stored === keyHash) return true
  // Of a key that was not made here, the license stores the hash of this hash.
  const { keyedHash } = await keyHashing.hashesOf(tenantId, { keyHash, isOwn: false })
  return stored === keyedHash
}

/** Whether a license may have license files. */
export const allowFiles = async (ports: Ports<'findProduct'>, license: IssuedLicense): Promise<boolean> =>
  (await rulesFor(ports, license)) !== undefined

/** What the key type of a license allows; undefined where it allows no license files. A floating seat has none. */
async function rulesFor(
  { findProduct }: Ports<'findProduct'>,
  { tenantId, productId, keyTypeId, floating }: IssuedLicense,
): Promise<{ rules: OfflineFiles; atLeast: number | null; leaseHolder: boolean } | undefined> {
  if (floating !== null) return undefined
  const product = await findProduct(tenantId, productId)
  const rules = product && findKeyType(product, keyTypeId)?.offlineFiles
  if (!rules) return undefined
  const { deviceMatch, leaseHolder = false } = product.settings
  return { rules, atLeast: deviceMatch?.atLeast ?? null, leaseHolder }
}

function madeFor(license: License, nonce: string): { license: IssuedLicense; seat: Seat; file: SeatFile } {
  if (license.status === 'issued')
    for (const seat of license.seats.values()) {
      const file = seat.files?.find((each) => each.nonce === nonce)
      if (file) return { license, seat, file }
    }
  throw new Error('a license file that was made is there')
}
