import { createHash } from 'node:crypto'
import { NotProved, readingOf } from './not-proved.ts'
import { isObject } from './record.ts'

/** The files of an evidence archive by name. */
export type ArchiveFiles = ReadonlyMap<string, Uint8Array>

/** What the manifest of an archive says. */
export type Manifest = {
  tenantId: string
  licenseId: string
  /** The revision of the license's last event in the archive. */
  revision: number
  files: { name: string; sha256: string }[]
}

/** Folders in which every file counts. Elsewhere an unpacked archive may have files of its surroundings. */
const ownFolders = /^(events|proofs|notifications)\//

/**
 * Reads the manifest, and compares the files with it.
 * @throws NotProved when a file differs, is missing, or was added
 */
export function readManifest(files: ArchiveFiles): Manifest {
  const manifest = manifestIn(textOf(files, 'manifest.json'))
  for (const { name, sha256 } of manifest.files) {
    const content = files.get(name)
    if (!content)
      throw new NotProved('missing', `The archive lacks ${name}, which its manifest names. Get it again.`)
    if (createHash('sha256').update(content).digest('hex') !== sha256)
      throw new NotProved('differs', `${name} differs from what the manifest of the archive says.`)
  }
  const named = new Set(manifest.files.map(({ name }) => name))
  const added = [...files.keys()].find((name) => ownFolders.test(name) && !named.has(name))
  if (added !== undefined)
    throw new NotProved('added', `The archive has ${added}, which its manifest does not name.`)
  return manifest
}

/** @returns a file as text. @throws NotProved when it is missing */
export function textOf(files: ArchiveFiles, name: string): string {
  const content = files.get(name)
  if (!content) throw new NotProved('missing', `The archive has no ${name}. ${missingHint(name)}`)
  return Buffer.from(content).toString()
}

const missingHint = (name: string): string =>
  name === 'proofs/checkpoint'
    ? 'It was made without a notary, so nothing in it can be proved. Its signature can: see README.txt in it.'
    : 'Is it an evidence archive of keyledger? Get it again.'

function manifestIn(text: string): Manifest {
  const value = readingOf('manifest.json', (): unknown => JSON.parse(text))
  if (!isObject(value) || !Array.isArray(value.files)) throw malformed()
  const { tenantId, licenseId, revision } = value
  if (typeof tenantId !== 'string' || typeof licenseId !== 'string') throw malformed()
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) throw malformed()
  const files = value.files.map((file: unknown) => {
    if (!isObject(file) || typeof file.name !== 'string' || typeof file.sha256 !== 'string') throw malformed()
    return { name: file.name, sha256: file.sha256 }
  })
  return { tenantId, licenseId, revision, files }
}

const malformed = (): NotProved =>
  new NotProved('malformed', 'manifest.json is not that of an evidence archive. Get the archive again.')
