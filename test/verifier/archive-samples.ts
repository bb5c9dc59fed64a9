import { archivedLog, event, type Parts, vendorKey } from './signed-archive.ts'
import { key } from './signed-log.ts'

export const [acmeKey, otherVendorKey, forgerKey] = [vendorKey(8), vendorKey(9), vendorKey(10)]
const published = (tenantId: string, { kid, publicKey }: typeof acmeKey) =>
  event([`signing-${tenantId}`, 0, 'SigningKeyPublished'], { kid, publicKey, tenantId })
const device = (license: string, revision: number, isSalted = true) =>
  event(
    [`license-${license}`, revision, 'DeviceActivated'],
    { deviceId: `device-${String(revision)}` },
    isSalted,
  )
export const keyHash = 'ab'.repeat(32)
const minted = (license: string, tenantId: string, isSalted = true) =>
  event([`license-${license}`, 0, 'LicenseMinted'], { tenantId, keyHash, deviceLimit: 3 }, isSalted)
const imported = (license: string, isSalted = true) =>
  event([`license-${license}`, 0, 'LicenseImported'], { tenantId: 'acme', keyHash, deviceLimit: 3 }, isSalted)

/** A log as an older version wrote it up to some event, and this one after it. */
export const log = archivedLog([
  minted('old', 'acme', false),
  device('old', 1, false),
  imported('before', false),
  device('before', 1, false),
  event(['license-before', 2, 'KeyMailAsked'], { keyHash }, false),
  published('acme', acmeKey),
  published('other', otherVendorKey),
  minted('new', 'acme'),
  device('new', 1),
  device('new', 2),
  event(['sale-acme.stripe.x', 0, 'SaleReceived'], { tenantId: 'acme' }),
  event(['sale-acme.stripe.x', 1, 'SaleRefunded'], {}),
  imported('import'),
  device('import', 1),
  minted('foreign', 'other'),
  device('foreign', 1),
])
export const hasKey = ({ type }: { type: string }) => type === 'LicenseImported' || type === 'KeyMailAsked'

export async function partsOf(licenseId: string, given: Partial<Parts> = {}): Promise<Parts> {
  const license = await log.linesOf(`license-${licenseId}`, hasKey)
  return {
    tenantId: 'acme',
    licenseId,
    revision: license.length - 1,
    lines: { license, signing: await log.linesOf('signing-acme') },
    others: { 'README.txt': 'Read me', 'license.json': '{}', 'proofs/keys.txt': `${key}\n` },
    checkpoint: log.checkpoint,
    signedBy: acmeKey,
    ...given,
  }
}
export const newParts = async (): Promise<Parts> => {
  const parts = await partsOf('new')
  const sale = await log.linesOf('sale-acme.stripe.x')
  return { ...parts, lines: { license: parts.lines.license ?? [], sale, signing: parts.lines.signing ?? [] } }
}
/** An archive as a version without salts made it. */
export const oldParts = async (licenseId = 'old'): Promise<Parts> => {
  const { lines, ...parts } = await partsOf(licenseId)
  return { ...parts, lines: { license: lines.license ?? [] } }
}
