import {
  type Entitling,
  entitlementsFor,
  entitlementValuesFor,
} from '../../../projections/licenses/entitlements.ts'
import { hasInstance } from '../../../projections/licenses/files.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { borrowing } from '../../domain/licenses/borrowing.ts'
import { type IssuedLicense, type License, licenses } from '../../domain/licenses/license.ts'
import type { SeatFile } from '../../domain/licenses/seat-files.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import type { DeviceMail } from '../../domain/products/device-mails.ts'
import type { OfflineFiles } from '../../domain/products/key-type.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { armored } from '../../signing/armor.ts'
import { type DeviceRequest, readRelease, readRequest } from '../../signing/device-statements.ts'
import { namedHolder } from '../../signing/holder.ts'
import { signLease2 } from '../../signing/lease2.ts'
import type { ActiveKey } from '../../signing/signer.ts'
import { planOf, seating } from '../cross-stream/plan-capacity.ts'
import { requireLicense } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { signingKeyOf } from '../signing-keys.ts'
import { takeSeat } from './floating.ts'
import { waiterOf } from './waiting.ts'

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
  | 'seatEnds'
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
 * Makes a license file from the request of a device, which takes a seat if it has none, or borrows a floating one. The same request
 * gets the same file again. The product's stream is read beside the license's: a file may follow the setting of its key type that was
 * replaced a moment before.
 * @param days how long it is good at most; undefined for as long as the license allows
 * @throws Refusal `license_not_found`, `files_off`, `borrowing_off`, `file_too_long`, `file_request_unreadable`,
 *   `file_request_of_another_license`, `plan_limit`, `seat_lost`, what `fileIssued` refuses
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
  const entry = await requireLicense(ports, tenantId, licenseId)
  const { productId } = entry.license
  const request = readRequest(text, { tenantId, productId })
  if (!request) throw new Refusal('file_request_unreadable')
  await requireKey(ports, entry, request)
  const allowed = await rulesFor(ports, entry.license)
  if (!allowed) throw new Refusal(entry.license.floating ? 'borrowing_off' : 'files_off')
  const { rules, atLeast, deviceMails } = allowed
  if (days !== undefined && days > rules.maxDays) throw new Refusal('file_too_long')
  const key = await signingKeyOf(ports, tenantId, origin)
  await ports.signer.prepare(tenantId, key)
  const { said, name, instanceId, installId, deviceKey, nonce, counter } = request
  const identities = await ports.deviceHashing.identitiesOf(entry.license, said)
  const plan = { tenantId, plan: await planOf(ports.db, tenantId) }
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
    tell: deviceMails,
    reason,
  } as const
  const made = await takeSeat(
    ports,
    { license: entry.license, deviceMails },
    { waiter: waiterOf(command.claim), origin },
    async ({ ranOut }) => {
      const at = momentOf(ports)
      const { state, events } = await seating(ports, plan, (admit, proof) =>
        ports.execute(licenses, licenseId, { ...command, ranOut, at }, causeOf(origin, at), {
          admit,
          proof,
          run: origin.run,
        }),
      )
      const isSeated = events.some(({ type }) => type === 'DeviceActivated')
      return { ...fileOf(state, nonce), isSeated }
    },
    ({ seat }) => seat,
  )
  const { seat, file } = made
  const token = await signFile(ports, key, { ...entry, ...made }, { request, ...allowed })
  if (made.isSeated) ports.usage.count(tenantId, productId, 'activations')
  return { seat, file, token, text: armored('LICENSE', token) }
}

/** A license file that was recorded, on a license whose entitlements are known. */
type Recorded = Entitling & ReturnType<typeof fileOf>

/**
 * Signs a license file that was recorded, for the machine that asked for it.
 * @throws SigningFailed when the tenant's key cannot be used
 */
export async function signFile(
  ports: Ports<'now' | 'signer' | 'subjects'>,
  key: ActiveKey,
  recorded: Recorded,
  { request, leaseHolder }: { request: DeviceRequest; leaseHolder: boolean },
): Promise<string> {
  const at = momentOf(ports)
  const { license, seat, file } = recorded
  const { tenantId, productId, licenseId } = license
  const status = statusAt(license, at)
  const entitlements = entitlementsFor(status, recorded, at)
  const facts = {
    tenantId,
    productId,
    licenseId,
    keyHash: request.keyHash,
    instanceId: seat.instanceId,
    status,
    entitlements,
    values: entitlementValuesFor(entitlements, recorded, at) ?? {},
    license,
    leaseSeconds: 0,
    device: request.said,
    holder: leaseHolder ? await namedHolder(ports, tenantId, license.holder) : undefined,
    file,
    fence: seat.fence,
  }
  return signLease2(ports.signer, key, facts, at)
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
  const command = { type: 'ReleaseFile', ...release, reason, at } as const
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

type FileRules = {
  rules: OfflineFiles
  atLeast: number | null
  leaseHolder: boolean
  /** What the product tells its holder about devices; null for nothing. */
  deviceMails: readonly DeviceMail[] | null
}

/**
 * What the key type of a license allows; undefined where it allows no license files. Floating seats are borrowed by the terms that the
 * license was issued with.
 */
async function rulesFor(
  { findProduct }: Ports<'findProduct'>,
  license: IssuedLicense,
): Promise<FileRules | undefined> {
  const product = await findProduct(license.tenantId, license.productId)
  if (!product) return undefined
  // What a person's devices have ends with their seat, and a file cannot be taken back.
  if (license.named) return undefined
  const lent = borrowing(license)
  const rules = license.floating
    ? lent && { maxDays: lent.maxDays, perSeatPerYear: Infinity }
    : findKeyType(product, license.keyTypeId)?.offlineFiles
  if (!rules) return undefined
  const { deviceMatch, leaseHolder = false, deviceMails = null } = product.settings
  return { rules, atLeast: deviceMatch?.atLeast ?? null, leaseHolder, deviceMails }
}

/** The file that answers a request. @throws Error when none was made */
export function fileOf(
  license: License,
  nonce: string,
): { license: IssuedLicense; seat: Seat; file: SeatFile } {
  if (license.status === 'issued')
    for (const seat of license.seats.values()) {
      const file = seat.files?.find((each) => each.nonce === nonce)
      if (file) return { license, seat, file }
    }
  throw new Error('a license file that was made is there')
}
