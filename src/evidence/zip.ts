import { crc32 } from 'node:zlib'

/** A complete file of an archive. */
export type ArchivedFile = { name: string; content: Buffer }

/**
 * 1 January 1980, the earliest date of the format, so that archives do not depend on the time of their
 * creation.
 */
const noDate = 0x0021
const isUtf8 = 0x0800
const neededVersion = 10
const maxBytes = 0xffff_ffff
const maxFiles = 0xffff

/**
 * Files as a zip archive, uncompressed and in the given order, so that its bytes depend only on the names and
 * contents. It is created as fast as it is read, with one file in memory.
 * @throws RangeError for more than the format can hold without its extensions
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export async function* zipped(files: AsyncIterable<ArchivedFile>): AsyncIterable<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  for await (const { name, content } of files) {
    const path = Buffer.from(name)
    const facts = factsOf(path, content)
    const local = Buffer.concat([signature(0x04034b50), facts, path])
    directory.push(
      Buffer.concat([signature(0x02014b50), uint16(neededVersion), facts, placeAt(offset), path]),
    )
    offset += local.length + content.length
    if (offset > maxBytes || directory.length > maxFiles)
      throw new RangeError('the evidence is too large for one archive')
    yield local
    yield content
  }
  const entries = Buffer.concat(directory)
  yield entries
  yield Buffer.concat([
    signature(0x06054b50),
    Buffer.alloc(4),
    uint16(directory.length),
    uint16(directory.length),
    uint32(entries.length),
    uint32(offset),
    uint16(0),
  ])
}

/** The fields that a file's local header and the directory share. */
function factsOf(path: Buffer, content: Buffer): Buffer {
  const stored = 0
  const noExtra = 0
  return Buffer.concat([
    ...[neededVersion, isUtf8, stored, 0, noDate].map(uint16),
    ...[crc32(content), content.length, content.length].map(uint32),
    ...[path.length, noExtra].map(uint16),
  ])
}

/** The directory's further fields: no comment, the first disk, no attributes, and the offset of the file. */
const placeAt = (offset: number): Buffer => Buffer.concat([Buffer.alloc(10), uint32(offset)])

const signature = (number: number): Buffer => uint32(number)

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** How many lines a file has at most, which bounds the memory. */
const linesEach = 500

/** A JSON file. */
export const jsonFile = (name: string, value: unknown): ArchivedFile => ({
  name,
  content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})

/**
 * Values as JSON lines, in files of {@link linesEach}: `<name>-0001.jsonl` and so on. No values make no file.
 */
export async function* lineFiles(name: string, values: AsyncIterable<unknown>): AsyncIterable<ArchivedFile> {
  let number = 0
  for await (const batch of batchesOf(values)) yield lineFile(name, ++number, batch)
}

/** One file of JSON lines. */
export const lineFile = (name: string, number: number, values: readonly unknown[]): ArchivedFile => ({
  name: `${name}-${String(number).padStart(4, '0')}.jsonl`,
  content: Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join('')),
})

/** The values of each file. */
export async function* batchesOf<T>(values: AsyncIterable<T>): AsyncIterable<T[]> {
  let batch: T[] = []
  for await (const value of values) {
    batch.push(value)
    if (batch.length < linesEach) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
