import { createHash } from 'node:crypto'
import { hasExactly, isObject, readJson, textIn } from './json.ts'
import { NotProved } from './not-proved.ts'

/** The files of an evidence archive by name. */
export type ArchiveFiles = ReadonlyMap<string, Uint8Array>

/** What the manifest of an archive says. */
export type Manifest = {
  tenantId: string
  licenseId: string
  /** The revision of the license's last event in the archive. */
  revision: number
  kid: string
  publicKey: string
  files: { name: string; size: number; sha256: string }[]
}

/** The two files that no manifest can name. */
const manifestName = 'manifest.json'
export const signatureName = 'signature.json'

/** Names that an archive may have. Others could be read as one of these, or lead out of the archive. */
const fileName =
  /^(README\.txt|[a-z]+\.(json|html|mjs)|[a-z]+-\d{4,}\.jsonl|notifications\/\d{4,}\.txt|(events|proofs)\/[a-z]+-\d{4,}\.jsonl|proofs\/(checkpoint|keys\.txt))$/

const members = ['version', 'tenantId', 'licenseId', 'revision', 'kid', 'publicKey', 'files'] as const

/** @returns the manifest, whose signature and files are not checked yet. @throws NotProved */
export function readManifest(files: ArchiveFiles): Manifest {
  const value = readJson(manifestName, textOf(files, manifestName))
  if (!isObject(value) || !hasExactly(value, members)) throw malformed()
  if (value.version !== 1 || !Array.isArray(value.files)) throw malformed()
  const { tenantId, licenseId, revision, kid, publicKey } = value
  if (typeof tenantId !== 'string' || typeof licenseId !== 'string') throw malformed()
  if (typeof kid !== 'string' || typeof publicKey !== 'string') throw malformed()
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) throw malformed()
  const listed = value.files.map((file: unknown) => {
    if (!isObject(file) || !hasExactly(file, ['name', 'size', 'sha256'])) throw malformed()
    const { name, size, sha256 } = file
    if (typeof name !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string') throw malformed()
    return { name, size, sha256 }
  })
  return { tenantId, licenseId, revision, kid, publicKey, files: listed }
}

const malformed = (): NotProved =>
  new NotProved('malformed', `${manifestName} is not that of an evidence archive. Get the archive again.`)

/**
 * Compares the files with the manifest.
 * @throws NotProved which names the first file that differs, is missing, was added or has a name that no archive has
 */
export function checkFiles(files: ArchiveFiles, { files: listed }: Manifest): void {
  const named = new Set<string>([manifestName, signatureName])
  for (const { name, size, sha256 } of listed) {
    if (!fileName.test(name))
      throw new NotProved(
        'added',
        `The manifest names ${name}, and no evidence archive has a file of such a name.`,
      )
    if (named.has(name)) throw new NotProved('added', `The manifest names ${name} twice.`)
    named.add(name)
    const content = files.get(name)
    if (!content)
      throw new NotProved('missing', `The archive lacks ${name}, which its manifest names. Get it again.`)
    if (content.length !== size || createHash('sha256').update(content).digest('hex') !== sha256)
      throw new NotProved('differs', `${name} differs from what the manifest of the archive says.`)
  }
  const added = [...files.keys()].find((name) => !named.has(name))
  if (added !== undefined)
    throw new NotProved(
      'added',
      `The archive has ${added}, which its manifest does not name. If it is your own, take it out of the directory.`,
    )
}

/** @returns a file as text. @throws NotProved when it is missing */
export function textOf(files: ArchiveFiles, name: string): string {
  const content = files.get(name)
  if (!content) throw new NotProved('missing', `The archive has no ${name}. ${missingHint(name)}`)
  return textIn(name, content)
}

const missingHint = (name: string): string =>
  name === 'proofs/checkpoint'
    ? 'It was made without a notary, so nothing in it can be proved. Its signature can: see README.txt in it.'
    : 'Is it an evidence archive of keyledger? Get it again.'
