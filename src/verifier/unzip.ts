import { textIn } from './json.ts'
import { NotProved } from './not-proved.ts'

const localSignature = 0x04034b50
const entrySignature = 0x02014b50
const endSignature = 0x06054b50
const localBytes = 30
const neededVersion = 10
const isUtf8 = 0x0800
const stored = 0
const noDate = 0x0021
const maxFiles = 0xffff
const maxBytes = 0xffff_ffff

/**
 * Reads the files of a zip archive as keyledger writes it. Each byte of it has to be exactly what the format makes of the names and
 * contents: of anything else, programs could show different files.
 * @throws NotProved when it is damaged or was packed by another program, or two files have the same name
 */
export function unzip(archive: Uint8Array): Map<string, Uint8Array> {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  const files = new Map<string, Uint8Array>()
  const directory: Buffer[] = []
  let at = 0
  while (zip.length >= at + localBytes && zip.readUInt32LE(at) === localSignature) {
    const size = zip.readUInt32LE(at + 22)
    const start = at + localBytes + zip.readUInt16LE(at + 26)
    const path = zip.subarray(at + localBytes, start)
    const content = zip.subarray(start, start + size)
    const name = textIn('The name of a file in the archive', path)
    const facts = factsOf(path, content)
    if (content.length !== size || !zip.subarray(at + 4, at + localBytes).equals(facts)) throw damaged()
    if (files.has(name)) throw new NotProved('added', `The archive has two files named ${name}.`)
    files.set(name, content)
    directory.push(uint32(entrySignature), uint16(neededVersion), facts, Buffer.alloc(10), uint32(at), path)
    at = start + size
  }
  if (files.size > maxFiles || at > maxBytes) throw damaged()
  const entries = Buffer.concat(directory)
  const counted = uint16(0, 0, files.size, files.size)
  const end = Buffer.concat([uint32(endSignature), counted, uint32(entries.length, at), uint16(0)])
  if (!zip.subarray(at).equals(Buffer.concat([entries, end]))) throw damaged()
  return files
}

const damaged = (): NotProved =>
  new NotProved(
    'malformed',
    'The file is not a zip archive as keyledger writes it: it is damaged, or another program packed it. Get it again, or ' +
      'unpack it into an empty directory and check that.',
  )

/** The fields that a file's header and the directory share. */
const factsOf = (path: Buffer, content: Buffer): Buffer =>
  Buffer.concat([
    uint16(neededVersion, isUtf8, stored, 0, noDate),
    uint32(crc32(content), content.length, content.length),
    uint16(path.length, 0),
  ])

const crcTable = Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1
  return value
})

/** Node 18, on which the verifier in an archive runs, has none. */
function crc32(bytes: Uint8Array): number {
  let value = 0xffff_ffff
  for (const byte of bytes) value = (value >>> 8) ^ (crcTable[(value ^ byte) & 0xff] ?? 0)
  return (value ^ 0xffff_ffff) >>> 0
}

function uint16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index)
  return bytes
}

function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index)
  return bytes
}
