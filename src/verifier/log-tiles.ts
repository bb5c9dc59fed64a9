import { type Hash, hashBytes } from '../transparency/tree/hash.ts'
import { type ReadTile, type Tile, tilePath, tileWidth } from '../transparency/tree/tiles.ts'
import { NotProved } from './not-proved.ts'

/** @returns the hashes of a tile. @throws NotProved when it has another length */
async function readTileHashes(read: ReadTile, tile: Tile): Promise<Hash[]> {
  const bytes = await read(tile)
  if (bytes.length !== tile.width * hashBytes)
    throw new NotProved(
      'malformed',
      `${tilePath(tile)} has ${String(bytes.length)} bytes instead of ${String(tile.width * hashBytes)}. Get it again.`,
    )
  return Array.from({ length: tile.width }, (_, at) => bytes.subarray(at * hashBytes, (at + 1) * hashBytes))
}

/** The tiles of leaves of a log, from left to right. */
export async function* leafTiles(read: ReadTile, size: number): AsyncIterable<Hash[]> {
  for (let index = 0; index * tileWidth < size; index += 1)
    yield await readTileHashes(read, {
      level: 0,
      index,
      width: Math.min(tileWidth, size - index * tileWidth),
    })
}

/** Reads single hashes of the levels above the leaves, in order: each tile once. */
export function upperHashes(
  read: ReadTile,
  size: number,
): (level: number, index: number) => Promise<Hash | undefined> {
  const last = new Map<number, { index: number; hashes: Hash[] }>()
  return async (level, at) => {
    const index = Math.floor(at / tileWidth)
    let known = last.get(level)
    if (known?.index !== index) {
      const width = Math.min(tileWidth, Math.floor(size / tileWidth ** level) - index * tileWidth)
      known = { index, hashes: await readTileHashes(read, { level, index, width }) }
      last.set(level, known)
    }
    return known.hashes[at % tileWidth]
  }
}
