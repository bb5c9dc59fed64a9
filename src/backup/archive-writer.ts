import { createHash, hash } from 'node:crypto'
import { type FileHandle, link, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createTarPacker } from 'modern-tar'
import { type EncryptionKey, encrypted } from './encryption.ts'
import { BackupError } from './errors.ts'
import { checksumName, formatVersion, headerName, type Manifest, manifestName, type Part } from './format.ts'

/** Receives the parts of a backup, one after another. */
export type ArchiveWriter = {
  add(name: string, bytes: Uint8Array): Promise<void>
  /** The parts added so far. */
  readonly parts: readonly Part[]
}

/** The name of a file until it is complete. */
const partialName = (file: string): string => join(dirname(file), `.${basename(file)}.partial`)

/**
 * Writes a backup file: a tar archive, encrypted if a key is given, readable only by this user. The file gets
 * its name when all of it is on disk. A killed process leaves at most the partial file, which the next backup
 * replaces.
 * @param work adds the parts, and returns the rest of the manifest
 * @throws BackupError when the file exists
 */
export async function writeArchive(
  file: string,
  { keyledger, key }: { keyledger: string; key: EncryptionKey },
  work: (archive: ArchiveWriter) => Promise<Omit<Manifest, 'format' | 'keyledger' | 'parts'>>,
): Promise<{ manifest: Manifest; bytes: number }> {
  const partial = partialName(file)
  const handle = await openAnew(partial).catch((error: Error) => {
    throw notWritten(file, error)
  })
  try {
    const { readable, controller } = createTarPacker()
    const sink = writeTo(handle, await encrypted(readable, key)).catch((error: Error) => {
      throw notWritten(file, error)
    })
    // `add` and the end of the archive report the error.
    sink.catch((error: unknown) => controller.error(error))
    const add = async (name: string, bytes: Uint8Array) => {
      const body = controller.add({ name, size: bytes.length, mode: 0o600, type: 'file' }).getWriter()
      await body.write(bytes)
      await body.close()
    }
    const filling = fill(add, keyledger, work)
    filling.catch((error: unknown) => controller.error(error))
    const manifest = await filling
    controller.finalize()
    const bytes = await sink
    await handle.close()
    await publish(partial, file)
    return { manifest, bytes }
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(partial, { force: true })
    throw error
  }
}

type Add = (name: string, bytes: Uint8Array) => Promise<void>

async function fill(
  add: Add,
  keyledger: string,
  work: (archive: ArchiveWriter) => Promise<Omit<Manifest, 'format' | 'keyledger' | 'parts'>>,
): Promise<Manifest> {
  const parts: Part[] = []
  await add(headerName, inJson({ format: formatVersion, keyledger }))
  const described = await work({
    parts,
    async add(name, bytes) {
      parts.push({ name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') })
      await add(name, bytes)
    },
  })
  const manifest: Manifest = { format: formatVersion, keyledger, ...described, parts }
  const text = inJson(manifest)
  await add(manifestName, text)
  await add(checksumName, Buffer.from(`${hash('sha256', text, 'hex')}  ${manifestName}\n`))
  return manifest
}

const inJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`)

async function openAnew(partial: string): Promise<FileHandle> {
  await rm(partial, { force: true })
  return open(partial, 'wx', 0o600)
}

/**
 * Synced in small steps: the stores may use the same disk, and would have to wait for one large sync at the
 * end.
 */
const syncEveryBytes = 8 * 1024 * 1024

async function writeTo(handle: FileHandle, bytes: ReadableStream<Uint8Array>): Promise<number> {
  let written = 0
  let unsynced = 0
  for await (const chunk of bytes) {
    await handle.writeFile(chunk)
    written += chunk.length
    unsynced += chunk.length
    if (unsynced < syncEveryBytes) continue
    await handle.datasync()
    unsynced = 0
  }
  await handle.sync()
  return written
}

const notWritten = (file: string, error: Error): BackupError =>
  new BackupError(`${file} cannot be written: ${error.message}`, error)

/** Gives the file its final name unless a file with that name exists, and syncs the directory. */
async function publish(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file)
  } catch (error) {
    throw alreadyThere(error) ? existing(file) : error
  }
  await rm(partial)
  const directory = await open(dirname(file), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The error for a file that exists already. */
export const existing = (file: string): BackupError =>
  new BackupError(`${file} already exists. Choose another name, or move that file.`)

const alreadyThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'
