import { crc32 } from 'node:zlib'

/** A file as it goes into a zip, with what a program that packs differently would do to it. */
export type Packed = {
  name: Uint8Array
  content: Uint8Array
  local?: Partial<Header>
  central?: Partial<Header>
  extra?: Uint8Array
  comment?: Uint8Array
  /** After the content: such as a data descriptor. */
  after?: Uint8Array
}

type Header = {
  version: number
  flags: number
  method: number
  time: number
  date: number
  crc: number
  packedSize: number
  size: number
  name: Uint8Array
  attributes: number
  offset: number
}

/** What stands around the files. */
export type Around = {
  before?: Uint8Array
  betweenFilesAndDirectory?: Uint8Array
  betweenDirectoryAndEnd?: Uint8Array
  comment?: Uint8Array
  after?: Uint8Array
  directories?: 1 | 2
  count?: number
}

const facts = (header: Header, extra: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(26)
  const { version, flags, method, time, date } = header
  for (const [at, value] of [version, flags, method, time, date].entries()) bytes.writeUInt16LE(value, at * 2)
  bytes.writeUInt32LE(header.crc, 10)
  bytes.writeUInt32LE(header.packedSize, 14)
  bytes.writeUInt32LE(header.size, 18)
  bytes.writeUInt16LE(header.name.length, 22)
  bytes.writeUInt16LE(extra.length, 24)
  return bytes
}

/** A zip of files: as the published format has it, when nothing else is asked for. */
export function zipOf(files: readonly Packed[], around: Around = {}): Buffer {
  const none = Buffer.alloc(0)
  const parts: Uint8Array[] = [around.before ?? none]
  const directory: Uint8Array[] = []
  let offset = parts[0]?.length ?? 0
  for (const {
    name,
    content,
    local = {},
    central = {},
    extra = none,
    comment = none,
    after = none,
  } of files) {
    const plain: Header = {
      version: 10,
      flags: 0x0800,
      method: 0,
      time: 0,
      date: 0x0021,
      crc: crc32(content),
      packedSize: content.length,
      size: content.length,
      name,
      attributes: 0,
      offset,
    }
    const first = { ...plain, ...local }
    const file = [Buffer.from('504b0304', 'hex'), facts(first, extra), first.name, extra, content, after]
    parts.push(...file)
    offset += file.reduce((sum, { length }) => sum + length, 0)
    const second = { ...plain, ...central }
    const tail = Buffer.alloc(14)
    tail.writeUInt16LE(comment.length, 0)
    tail.writeUInt32LE(second.attributes, 6)
    tail.writeUInt32LE(second.offset, 10)
    directory.push(
      Buffer.from('504b01020a00', 'hex'),
      facts(second, extra),
      tail,
      second.name,
      extra,
      comment,
    )
  }
  parts.push(around.betweenFilesAndDirectory ?? none)
  offset += around.betweenFilesAndDirectory?.length ?? 0
  const entries = Buffer.concat(directory)
  for (let copy = 1; copy < (around.directories ?? 1); copy++) {
    parts.push(entries)
    offset += entries.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32BE(0x504b0506, 0)
  end.writeUInt16LE(around.count ?? files.length, 8)
  end.writeUInt16LE(around.count ?? files.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(around.comment?.length ?? 0, 20)
  return Buffer.concat([
    ...parts,
    entries,
    around.betweenDirectoryAndEnd ?? none,
    end,
    around.comment ?? none,
    around.after ?? none,
  ])
}

/** The files of a genuine archive, which has them in the order of its directory. */
export function filesIn(zip: Buffer): [string, Buffer][] {
  const files: [string, Buffer][] = []
  let at = 0
  while (zip.readUInt32BE(at) === 0x504b0304) {
    const size = zip.readUInt32LE(at + 22)
    const begin = at + 30 + zip.readUInt16LE(at + 26)
    files.push([zip.toString('utf8', at + 30, begin), zip.subarray(begin, begin + size)])
    at = begin + size
  }
  return files
}
