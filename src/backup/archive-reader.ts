import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { createTarDecoder } from 'modern-tar'
import type { z } from 'zod'
import { type DecryptionKey, decrypted, isEncrypted, magicLength } from './encryption.ts'
import { BackupError } from './errors.ts'
import {
  checksumName,
  formatVersion,
  Header,
  headerName,
  Manifest,
  manifestName,
  type Part,
} from './format.ts'

/** One file of the archive, read completely. */
export type Entry = { name: string; bytes: Uint8Array }

/** The size limit of a part, so that a damaged length does not exhaust the memory. */
const maxPartBytes = 64 * 1024 * 1024

/**
 * Yields the files of a backup's archive in order, without comparing digests.
 * @param onBytes called with the number of bytes read
 * @throws BackupError
 */
async function* entriesOf(
  file: string,
  key: DecryptionKey,
  onBytes: (bytes: number) => void,
): AsyncIterable<Entry> {
  const source = await openSource(file, key, onBytes)
  try {
    for await (const { header, body } of source.pipeThrough(createTarDecoder({ strict: true }))) {
      if (header.size > maxPartBytes) throw new Error(`${header.name} is too long`)
      yield { name: header.name, bytes: new Uint8Array(await new Response(body).arrayBuffer()) }
    }
  } catch (error) {
    throw error instanceof BackupError ? error : damaged(file, error)
  }
}

async function openSource(
  file: string,
  key: DecryptionKey,
  onBytes: (bytes: number) => void,
): Promise<ReadableStream<Uint8Array>> {
  const start = await startOf(file).catch((error: Error) => {
    throw new BackupError(`${file} cannot be read: ${error.message}`, error)
  })
  const bytes = chunksOf(file, onBytes)
  return isEncrypted(start) ? decrypted(bytes, key, file) : bytes
}

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const { buffer } = await handle.read(Buffer.alloc(magicLength), 0, magicLength, 0)
    return buffer
  } finally {
    await handle.close()
  }
}

function chunksOf(file: string, onBytes: (bytes: number) => void): ReadableStream<Uint8Array> {
  // The iterator rejects with the error.
  const source = createReadStream(file, { highWaterMark: 256 * 1024 }).on('error', () => undefined)
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await chunks.next()
      if (chunk.done) return controller.close()
      onBytes(chunk.value.length)
      controller.enqueue(chunk.value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}

/**
 * Reads a whole backup and compares every part with its digest.
 * @param options.keep selects small parts to return
 * @returns the manifest, and the parts that were kept
 * @throws BackupError when the file is damaged, incomplete, of a newer format, or no backup
 */
export async function checkArchive(
  file: string,
  key: DecryptionKey,
  options: { keep: (name: string) => boolean; onBytes: (bytes: number) => void },
): Promise<{ manifest: Manifest; kept: Entry[] }> {
  const parts: Part[] = []
  const kept: Entry[] = []
  const names: string[] = []
  let header: z.infer<typeof Header> | undefined
  let manifest: Uint8Array | undefined
  let checksum: string | undefined
  for await (const entry of entriesOf(file, key, options.onBytes)) {
    names.push(entry.name)
    if (names.length === 1) header = checkHeader(file, entry)
    else if (entry.name === manifestName) manifest = entry.bytes
    else if (entry.name === checksumName) checksum = Buffer.from(entry.bytes).toString()
    else {
      parts.push(partOf(entry))
      if (options.keep(entry.name)) kept.push(entry)
    }
  }
  if (names.length === 0) throw noBackup(file)
  if (manifest === undefined || checksum !== `${hash('sha256', manifest, 'hex')}  ${manifestName}\n`) {
    throw damaged(file)
  }
  const described = parseManifest(file, manifest)
  if (header?.keyledger !== described.keyledger || header.format !== described.format) throw damaged(file)
  const expected = [headerName, ...described.parts.map(({ name }) => name), manifestName, checksumName]
  if (!isDeepStrictEqual(described.parts, parts) || !isDeepStrictEqual(expected, names)) throw damaged(file)
  return { manifest: described, kept }
}

/**
 * Yields the parts of a backup whose manifest is known; each is compared with its digest first.
 * @throws BackupError when the file has changed since it was checked
 */
export async function* readParts(
  file: string,
  key: DecryptionKey,
  manifest: Manifest,
  onBytes: (bytes: number) => void,
): AsyncIterable<Entry> {
  const coming = manifest.parts.values()
  for await (const entry of entriesOf(file, key, onBytes)) {
    if (entry.name === headerName) continue
    if (entry.name === manifestName) return
    if (!isDeepStrictEqual(coming.next().value, partOf(entry))) throw damaged(file)
    yield entry
  }
  throw damaged(file)
}

const partOf = ({ name, bytes }: Entry): Part => ({
  name,
  bytes: bytes.length,
  sha256: hash('sha256', bytes, 'hex'),
})

function checkHeader(file: string, { name, bytes }: Entry): z.infer<typeof Header> {
  const header = name === headerName ? Header.safeParse(parsedJson(bytes)).data : undefined
  if (header === undefined) throw noBackup(file)
  if (header.format > formatVersion) {
    throw new BackupError(
      `${file} has format ${header.format} of keyledger ${header.keyledger}, but this version reads formats up to ${formatVersion}. Use that version of keyledger or a newer one.`,
    )
  }
  return header
}

function parseManifest(file: string, bytes: Uint8Array): Manifest {
  const parsed = Manifest.safeParse(parsedJson(bytes))
  if (!parsed.success) throw damaged(file, parsed.error)
  return parsed.data
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

const damaged = (file: string, cause?: unknown): BackupError =>
  new BackupError(`${file} is damaged or incomplete. Use another backup, or copy this one again.`, cause)

const noBackup = (file: string): BackupError =>
  new BackupError(`${file} is not a keyledger backup. Use a file that keyledger backup has written.`)
