import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { NotProved, readingOf } from './not-proved.ts'
import { unzip } from './unzip.ts'

/**
 * Reads the files of an archive.
 * @param path of a zip archive, or of the directory into which it was unpacked, which holds nothing else
 * @throws NotProved for a damaged archive, or an error of the file system
 */
export function readArchive(path: string): Map<string, Uint8Array> {
  if (!statSync(path).isDirectory()) return unzip(readWhole('The archive', path))
  return new Map(filesBelow(path, '').map((name) => [name, readWhole(name, join(path, name))]))
}

/** A file of gigabytes cannot be read at once, and no archive has one. @throws NotProved, or an error of the file system */
const readWhole = (what: string, path: string): Uint8Array => readingOf(what, () => readFileSync(path))

function filesBelow(directory: string, prefix: string): string[] {
  const entries = readdirSync(join(directory, prefix), { withFileTypes: true })
  if (entries.length === 0 && prefix !== '')
    throw new NotProved('added', `${prefix} is an empty directory, which no archive has. Remove it.`)
  return entries.flatMap((entry) => {
    const name = `${prefix}${entry.name}`
    if (entry.isDirectory()) return filesBelow(directory, `${name}/`)
    if (entry.isFile()) return [name]
    throw new NotProved('added', `${name} is neither a file nor a directory, as all of an archive is.`)
  })
}
