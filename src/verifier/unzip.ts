import { inflateRawSync } from 'node:zlib'
import { NotProved } from './not-proved.ts'

const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const endBytes = 22
const entryBytes = 46
const localBytes = 30
const longestComment = 0xffff
const stored = 0
const deflated = 8

/**
 * Reads the files of a zip archive, uncompressed or deflated, by the directory at its end.
 * @throws NotProved when it is damaged, or two files have the same name
 */
export function unzip(archive: Uint8Array): Map<string, Uint8Array> {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const files = new Map<string, Uint8Array>()
  try {
    const end = endOf(zip)
    let at = zip.readUInt32LE(end + 16)
    for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
      if (zip.readUInt32LE(at) !== entrySignature) throw damaged()
      const nameLength = zip.readUInt16LE(at + 28)
      const name = zip.subarray(at + entryBytes, at + entryBytes + nameLength).toString()
      // Programs disagree which of the two they show.
      if (files.has(name)) throw new NotProved('malformed', `The archive has two files named ${name}.`)
      if (!name.endsWith('/')) files.set(name, contentOf(zip, at))
      at += entryBytes + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    }
  } catch (error) {
    if (error instanceof NotProved) throw error
    throw damaged()
  }
  return files
}

const damaged = (): NotProved =>
  new NotProved('malformed', 'The file is not a zip archive, or it is damaged. Get it again.')

function endOf(zip: Buffer): number {
  const lowest = Math.max(0, zip.length - endBytes - longestComment)
  for (let at = zip.length - endBytes; at >= lowest; at -= 1)
    if (zip.readUInt32LE(at) === endSignature) return at
  throw damaged()
}

function contentOf(zip: Buffer, entry: number): Uint8Array {
  const method = zip.readUInt16LE(entry + 10)
  const packed = zip.readUInt32LE(entry + 20)
  const size = zip.readUInt32LE(entry + 24)
  const local = zip.readUInt32LE(entry + 42)
  const start = local + localBytes + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const bytes = zip.subarray(start, start + packed)
  if (bytes.length !== packed || (method !== stored && method !== deflated)) throw damaged()
  const content = method === stored ? bytes : inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1) })
  if (content.length !== size) throw damaged()
  return content
}
