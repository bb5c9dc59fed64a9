import type { Pool } from 'pg'
import type { Hash } from '../transparency/tree/edge.ts'
import { rangesOfConsistency } from '../transparency/tree/ranges.ts'
import { readHashes, type Tile, tileWidth } from '../transparency/tree/tiles.ts'
import { readCheckpoint } from './checkpoints.ts'
import { tileReader } from './tree-store.ts'

/** @returns the hashes of a tile; undefined when the last checkpoint does not cover it */
export async function readPublishedTile(db: Pool, tile: Tile): Promise<Uint8Array | undefined> {
  const checkpoint = await readCheckpoint(db)
  const hashes = Math.floor((checkpoint?.size ?? 0) / tileWidth ** tile.level)
  return tile.index * tileWidth + tile.width <= hashes ? tileReader(db)(tile) : undefined
}

/**
 * Proves that the first `to` leaves continue the first `from` leaves.
 * @param to at most the size of the last checkpoint
 */
export const proveConsistency = (db: Pool, from: number, to: number): Promise<Hash[]> =>
  readHashes(rangesOfConsistency(from, to), to, tileReader(db))
