import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashBytes } from '../transparency/tree/edge.ts'
import { type ReadTile, tilePath, tileWidth } from '../transparency/tree/tiles.ts'
import type { StoredLog } from './log.ts'
import { NotProved } from './not-proved.ts'

const newline = 0x0a

/**
 * Reads a log directory: `checkpoint`, `tile/…` (C2SP tlog-tiles) and, when it is there, `records.ndjson`.
 * @throws NotProved when there is no checkpoint
 */
export async function readLog(directory: string): Promise<StoredLog> {
  const records = join(directory, 'records.ndjson')
  return {
    checkpoint: (await fileOf(directory, 'checkpoint')).toString(),
    tile: tileFiles(directory),
    records: existsSync(records) ? linesOf(records) : undefined,
  }
}

/** Reads a tile. The beginning of a full tile serves as a partial one, which may have been removed. */
const tileFiles =
  (directory: string): ReadTile =>
  async (tile) => {
    const path = tilePath(tile)
    const full = tilePath({ ...tile, width: tileWidth })
    if (existsSync(join(directory, path)) || !existsSync(join(directory, full)))
      return fileOf(directory, path)
    return (await fileOf(directory, full)).subarray(0, tile.width * hashBytes)
  }

async function fileOf(directory: string, path: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, path))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    throw new NotProved(
      'missing',
      `${directory} has no ${path}. Get it from the server, or from another copy.`,
    )
  }
}

/** The lines of a file as bytes. Only a newline ends one, since a record may contain other separators. */
async function* linesOf(path: string): AsyncIterable<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      yield bytes.subarray(start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
  if (rest.length > 0) yield rest
}
