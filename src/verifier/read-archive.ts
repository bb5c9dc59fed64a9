import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { unzip } from './unzip.ts'

/**
 * Reads the files of an archive.
 * @param path of a zip archive, or of the directory into which it was unpacked
 * @throws NotProved for a damaged archive, or an error of the file system
 */
export function readArchive(path: string): Map<string, Uint8Array> {
  if (!statSync(path).isDirectory()) return unzip(readFileSync(path))
  const files = new Map<string, Uint8Array>()
  for (const entry of filesBelow(path))
    files.set(relative(path, entry).split(sep).join('/'), readFileSync(entry))
  return files
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
  })
