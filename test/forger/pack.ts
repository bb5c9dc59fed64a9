import type { Random } from './random.ts'
import type { Altered } from './work.ts'
import { type Around, type Packed, zipOf } from './zip.ts'

/** The files of an archive as they go into its zip. */
export const packedFrom = (files: ReadonlyMap<string, Buffer>): Packed[] =>
  [...files].map(([name, content]) => ({ name: Buffer.from(name), content }))

type Bend = (files: Packed[], random: Random) => Buffer

/** One of the files changed. */
const one =
  (change: (file: Packed) => Partial<Packed>): Bend =>
  (files, random) => {
    const at = random.below(files.length)
    return zipOf(files.map((file, index) => (index === at ? { ...file, ...change(file) } : file)))
  }

const around =
  (how: Around): Bend =>
  (files) =>
    zipOf(files, how)

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const junk = Buffer.from('forged')
const renamed = ({ name }: Packed): Buffer => Buffer.concat([name, Buffer.from('x')])

/** A zip within the zip, so that a reader from the front and one from the back see different files. */
const inner = (files: readonly Packed[]): Buffer =>
  zipOf(files.map((file) => ({ ...file, content: Buffer.concat([file.content, junk]) })))

/** Zips that the published format does not make. */
const bends: readonly Bend[] = [
  around({ before: junk }),
  around({ betweenFilesAndDirectory: junk }),
  around({ betweenDirectoryAndEnd: junk }),
  around({ after: junk }),
  around({ after: Buffer.from('\n') }),
  around({ comment: junk }),
  around({ directories: 2 }),
  around({ count: 65_535 }),
  around({ count: 1 }),
  around({ count: 0 }),
  // The end of a zip64 directory and its locator.
  around({
    betweenDirectoryAndEnd: Buffer.concat([
      bytes('504b06062c00000000000000'),
      Buffer.alloc(44),
      bytes('504b0607'),
      Buffer.alloc(16),
    ]),
  }),
  (files) => zipOf(files, { before: inner(files) }),
  (files) => zipOf(files, { betweenFilesAndDirectory: inner(files) }),
  (files) => zipOf(files, { comment: inner(files).subarray(0, 65_535) }),
  (files) => Buffer.concat([zipOf(files), inner(files)]),
  (files) => Buffer.concat([zipOf(files), zipOf(files).subarray(-22)]),
  (files) => zipOf(files).subarray(0, -1),
  (files, random) => zipOf(files).subarray(0, random.below(zipOf(files).length)),
  () => Buffer.alloc(0),
  () => Buffer.alloc(22),
  () => zipOf([]),
  (files, random) => {
    const zip = Buffer.from(zipOf(files))
    const at = random.below(zip.length)
    zip.writeUInt8((zip.readUInt8(at) + 1 + random.below(255)) % 256, at)
    return zip
  },
  // The same name twice, with equal or with other contents.
  (files, random) => zipOf([random.of(files), ...files]),
  (files, random) => zipOf([{ ...random.of(files), content: junk }, ...files]),
  (files, random) => zipOf([...files, { ...random.of(files), content: junk }]),
  // Names in other encodings, or with the two headers at odds.
  one((file) => ({ local: { name: renamed(file) } })),
  one((file) => ({ central: { name: renamed(file) } })),
  one(() => ({ name: bytes('ff2e6a736f6e') })),
  one(({ name }) => ({ name: Buffer.concat([name, bytes('00')]) })),
  one(({ name }) => ({ name: Buffer.concat([bytes('efbbbf'), name]) })),
  one(({ name }) => ({ name: Buffer.concat([name, Buffer.from('/')]), content: Buffer.alloc(0) })),
  one(() => ({ name: Buffer.alloc(0) })),
  one(() => ({ name: Buffer.alloc(65_535, 'a') })),
  // Facts.
  one(() => ({ local: { flags: 0 }, central: { flags: 0 } })),
  one(() => ({ local: { flags: 0x0808 }, central: { flags: 0x0808 } })),
  one(({ content }) => ({
    local: { flags: 0x0808, crc: 0, size: 0, packedSize: 0 },
    central: { flags: 0x0808 },
    after: Buffer.concat([bytes('504b0708'), content.subarray(0, 12)]),
  })),
  one(() => ({ local: { flags: 0x0801 }, central: { flags: 0x0801 } })),
  one(() => ({ local: { method: 8 }, central: { method: 8 } })),
  one(() => ({ local: { method: 8 } })),
  one(() => ({ central: { method: 99 } })),
  one(() => ({ local: { version: 45 }, central: { version: 45 } })),
  one(() => ({ local: { time: 1 } })),
  one(() => ({ central: { date: 0x5a21 } })),
  one(() => ({ central: { crc: 0 } })),
  one(() => ({ local: { crc: 0 }, central: { crc: 0 } })),
  one(() => ({ central: { size: 0 } })),
  one(() => ({
    local: { size: 0xffffffff, packedSize: 0xffffffff },
    central: { size: 0xffffffff, packedSize: 0xffffffff },
  })),
  one(({ content }) => ({ central: { size: content.length + 1, packedSize: content.length + 1 } })),
  one(() => ({ central: { packedSize: 0x7fffffff } })),
  one(() => ({ central: { offset: 0xffffffff } })),
  one(() => ({ central: { offset: 1 } })),
  // A symbolic link, a directory, a hidden file.
  one(() => ({ central: { attributes: 0xa1ff0000 } })),
  one(() => ({ central: { attributes: 0x10 } })),
  one(() => ({ central: { attributes: 2 } })),
  one(() => ({ comment: junk })),
  one(() => ({ extra: bytes('0a0000000000') })),
  one(({ name }) => ({
    extra: Buffer.concat([bytes('7570'), Buffer.of(5 + name.length, 0, 1, 0, 0, 0, 0), name]),
  })),
  one(() => ({ extra: bytes('01001000ffffffff00000000ffffffff00000000') })),
  one(() => ({ after: junk })),
]

export const packings = [
  'plain',
  'plain',
  'plain',
  'plain',
  'plain',
  'plain',
  'plain',
  'plain',
  'reordered',
  'bent',
] as const
export type Packing = (typeof packings)[number]

/** @returns the zip, and what its packing alone deserves */
export function pack(
  files: ReadonlyMap<string, Buffer>,
  how: Packing,
  random: Random,
): { zip: Buffer } & Altered {
  const plain = packedFrom(files)
  const genuine = zipOf(plain)
  const touched = ['zip', 'archive', ...files.keys()]
  if (how === 'plain') return { zip: genuine, verdict: 'same', touched }
  if (how === 'reordered') {
    const at = random.below(plain.length)
    return { zip: zipOf([...plain.slice(at), ...plain.slice(0, at)]), verdict: 'same', touched }
  }
  const zip = random.of(bends)(plain, random)
  return { zip, verdict: zip.equals(genuine) ? 'same' : 'refused', touched }
}
