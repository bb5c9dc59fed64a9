import { createHash } from 'node:crypto'
import { publicKeyBytes, verifyBytes } from '../transparency/note/keys.ts'
import { parseBase64 } from '../transparency/note/note.ts'
import { type ArchiveFiles, type Manifest, signatureName, textOf } from './archive-files.ts'
import type { ArchivedEvent } from './archive-line.ts'
import { hasExactly, isObject, readJson } from './json.ts'
import { NotProved } from './not-proved.ts'
import { TrustUnusable } from './trust.ts'

/**
 * How the key is known that signed an archive: its owner is known to the caller, or the log has it as the tenant's. Otherwise
 * it may be the key of a forger.
 */
export type Signer = {
  /** As the archive says; a known signer is this tenant. */
  tenantId: string
  kid: string
  known: 'given' | 'in the log' | 'no'
}

/** @returns the keys of a vendor as its keyset publishes them: base64. @throws TrustUnusable */
export const vendorKeysIn = (keys: readonly string[]): string[] =>
  keys.map((key) => {
    if (parseBase64(key)?.length === publicKeyBytes) return key
    throw new TrustUnusable(
      `${key} is not the signing key of a vendor: 32 bytes in base64, as its keyset publishes them.`,
    )
  })

/**
 * Verifies the signature over the manifest with the key in the manifest. Whose key that is, {@link signerOf} says.
 * @throws NotProved
 */
export function checkSignature(files: ArchiveFiles, { tenantId, licenseId, kid, publicKey }: Manifest): void {
  const key = parseBase64(publicKey)
  if (key?.length !== publicKeyBytes || sha256(key).slice(0, 16) !== kid)
    throw new NotProved('malformed', 'The manifest has no usable public key. Get the archive again.')
  const value = readJson(signatureName, textOf(files, signatureName))
  if (!isObject(value) || !hasExactly(value, ['kid', 'signature'])) throw malformed()
  const signature = typeof value.signature === 'string' ? parseBase64(value.signature) : undefined
  if (!signature || value.kid !== kid) throw malformed()
  const digest = sha256(files.get('manifest.json') ?? Buffer.of())
  if (!verifyBytes(key, Buffer.from(`evidence1|${kid}|${tenantId}|${licenseId}|${digest}`), signature))
    throw new NotProved(
      'wrong_signature',
      'manifest.json was changed after the archive was signed, or its signature is of another archive.',
    )
}

const malformed = (): NotProved =>
  new NotProved('malformed', `${signatureName} is not the signature of the key that the manifest names.`)

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Says how the key of an archive is known.
 * @param events of the archive, proved
 * @throws NotProved when it is not one of the given keys, or not one of those that the log has of the tenant
 */
export function signerOf(
  { tenantId, kid, publicKey }: Manifest,
  events: readonly ArchivedEvent[],
  given: readonly string[],
): Signer {
  if (given.length > 0) {
    if (given.includes(publicKey)) return { tenantId, kid, known: 'given' }
    throw new NotProved(
      'foreign_key',
      `The archive is signed with the key ${kid}, which is none of the given keys of the vendor.`,
    )
  }
  const published = events.filter(({ stream }) => stream === `signing-${tenantId}`)
  if (published.length === 0) return { tenantId, kid, known: 'no' }
  if (published.some((event) => event.type === 'SigningKeyPublished' && event.data.publicKey === publicKey))
    return { tenantId, kid, known: 'in the log' }
  throw new NotProved(
    'foreign_key',
    `The archive is signed with the key ${kid}, and the log has other signing keys of ${tenantId}.`,
  )
}
