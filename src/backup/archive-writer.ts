import { createHash, hash } from 'node:crypto'
import { type FileHandle, link, open, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createTarPacker } from 'modern-tar'
import { type EncryptionKey, encrypted } from './encryption.ts'
import { BackupError } from './errors.ts'
import { checksumName, formatVersion, headerName, type Manifest, manifestName, type Part } from './format.ts'

/** Takes the parts of a backup, one after another. */
export type ArchiveWriter = {
  add(name: string, bytes: Uint8Array): Promise<void>
  /** What was added so far. */
  readonly parts: readonly Part[]
}

/** What is being written has this name until it is whole. */
const partialName = (file: string): string => join(dirname(file), `.${basename(file)}.partial`)

/**
 * Writes a backup file: a tar archive, encrypted if asked, readable by this user alone. The file appears under its
 * name when all of it is on disk; a process that is killed leaves at most the partial file, which the next one replaces.
 * @param work adds the parts, and returns what the manifest says beside them
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
    // Heard where the archive is written, and at the end.
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

/** Little by little to the disk: the stores may write to the same one, and would wait for all of it at the end. */
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

/** Gives the file its name, unless another one has it, and makes the name last. */
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

/** The refusal to write over a file. */
export const existing = (file: string): BackupError =>
  new BackupError(`${file} already exists. Choose another name, or move that file.`)

const alreadyThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'
