import { findLicensesByKey } from '../../../projections/licenses/keys.ts'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { readKey } from '../../credentials/license-key.ts'
import { licenses } from '../../domain/licenses/license.ts'
import { isKeyOf } from '../../domain/licenses/named.ts'
import type { Finding } from '../../domain/licenses/sharing.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { requireLicense, stateOf } from './licenses.ts'

/** What was found of a license, and whether its product wants it suspended. */
type Found = { licenseId: string; findings: readonly Finding[]; suspend: boolean }

/**
 * Records what was found of a license, unless it is recorded: each finding once, by any number of processes, since an append at the
 * revision that was read fails once another has recorded anything.
 * @throws Refusal `license_not_found`
 */
export function noticeSharing(
  ports: Ports<'execute' | 'findLicenseById' | 'now'>,
  found: Found,
  origin: Origin,
): Promise<void> {
  const read = async () => {
    const entry = await ports.findLicenseById(found.licenseId)
    if (!entry) throw new Refusal('license_not_found')
    return stateOf(entry)
  }
  return notice(ports, found, read, origin)
}

async function notice(
  ports: Ports<'execute' | 'now'>,
  { licenseId, findings, suspend }: Found,
  read: () => Promise<ReturnType<typeof stateOf>>,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  for (const finding of findings) {
    const command = { type: 'NoticeSharing', ...finding, suspend, at } as const
    await ports.execute(licenses, licenseId, command, causeOf(origin, at), { read })
  }
}

/**
 * Allows a license to be used as it is, which closes its notices, or has the rules of its product notice it again.
 * @throws Refusal `license_not_found`
 */
export async function allowSharing(
  ports: Ports<'db' | 'execute' | 'now'>,
  {
    tenantId,
    licenseId,
    allowed,
    reason,
  }: { tenantId: string; licenseId: string; allowed: boolean; reason: string | null },
  origin: Origin,
): Promise<LicenseEntry> {
  const find = () => requireLicense(ports, tenantId, licenseId)
  const read = async () => stateOf(await find())
  const at = momentOf(ports)
  const command = { type: 'AllowSharing', allowed, reason, at } as const
  await ports.execute(licenses, licenseId, command, causeOf(origin, at), { read, run: origin.run })
  return find()
}

/** What became of keys that were found published. */
export type PublishedKeys = {
  /** The licenses whose present key is among them, or that of a person who has a seat. */
  licenseIds: string[]
  /** How many are keys that a license had before it was reminted. */
  replaced: number
  /** How many are no key of a license. */
  unknown: number
}

/**
 * Notices the licenses whose present key is among those that were found published. The list itself is not kept. Repeating it changes
 * nothing, so a list that was interrupted is sent again.
 * @param found keys, or the SHA-256 of keys in hex
 */
export async function noticePublishedKeys(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyHashing' | 'now'>,
  { tenantId, found }: { tenantId: string; found: readonly string[] },
  origin: Origin,
): Promise<PublishedKeys> {
  const hashes = await Promise.all(found.map((text) => hashesOf(ports, tenantId, text)))
  const byHash = await findLicensesByKey(ports.db, tenantId, hashes.flat())
  const listed = hashes.map((own) => own.find((hash) => byHash.has(hash)))
  const known = new Set(listed.filter((hash) => hash !== undefined))
  const licenseIds: string[] = []
  for (const keyHash of known) {
    const { license } = await requireLicense(ports, tenantId, byHash.get(keyHash) ?? '')
    if (!isKeyOf(license, keyHash)) continue
    const { licenseId, productId } = license
    const product = await ports.findProduct(tenantId, productId)
    const suspend = product?.settings.keySharing?.action === 'suspend'
    const day = momentOf(ports).slice(0, 10)
    const finding: Finding = { rule: 'published_key', count: 1, limit: null, day }
    const read = async () => stateOf(await requireLicense(ports, tenantId, licenseId))
    await notice(ports, { licenseId, findings: [finding], suspend }, read, origin)
    licenseIds.push(licenseId)
  }
  const unknown = listed.filter((hash) => hash === undefined).length
  return { licenseIds: licenseIds.sort(), replaced: known.size - licenseIds.length, unknown }
}

const plainHash = /^[0-9a-f]{64}$/

/** The hashes under which a license may keep a key; none for what cannot be a key. */
async function hashesOf(
  { keyHashing }: Ports<'keyHashing'>,
  tenantId: string,
  text: string,
): Promise<string[]> {
  const hash = text.toLowerCase()
  const key = plainHash.test(hash) ? { keyHash: hash } : readKey(text)
  if (key === undefined) return []
  // Of a hash alone nothing says which format its key has.
  const { keyHash, keyedHash } = await keyHashing.hashesOf(tenantId, { keyHash: key.keyHash, isOwn: false })
  return keyedHash === null ? [keyHash] : [keyHash, keyedHash]
}
