import { crc32 } from 'node:zlib'

/** A file of an archive, whole. */
export type ArchivedFile = { name: string; content: Buffer }

/** 1 January 1980, the first day that the format knows: nothing in an archive says when it was made. */
const noDate = 0x0021
const isUtf8 = 0x0800
const neededVersion = 10
const mostBytes = 0xffff_ffff
const mostFiles = 0xffff

/**
 * Files as a zip archive, each as it is and in the order given, so that every byte of the archive follows from their
 * names and contents. Made as fast as it is read, with one file in memory.
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
    if (offset > mostBytes || directory.length > mostFiles)
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

/** What both a file's own header and the directory say of it. */
function factsOf(path: Buffer, content: Buffer): Buffer {
  const stored = 0
  const noExtra = 0
  return Buffer.concat([
    ...[neededVersion, isUtf8, stored, 0, noDate].map(uint16),
    ...[crc32(content), content.length, content.length].map(uint32),
    ...[path.length, noExtra].map(uint16),
  ])
}

/** What the directory says beside that: no comment, the first disk, no attributes, and where the file begins. */
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
