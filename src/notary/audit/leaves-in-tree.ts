import type { Pool } from 'pg'
import { hashBytes } from '../../transparency/tree/edge.ts'
import { tileWidth } from '../../transparency/tree/tiles.ts'

const tilesPerRead = 64

/** The hashes of consecutive leaves, one after another. */
export type LeafHashes = { first: number; hashes: Buffer }

/** A tile in the database is shorter than the tree says. */
export class TileIncomplete extends Error {
  readonly leaf: number
  constructor(tile: number, leaf: number) {
    super(`tile 0/${String(tile)} is not complete`)
    this.leaf = leaf
  }
}

/** Reads the leaf hashes of the first leaves of the tree, many tiles at a time. @throws TileIncomplete */
export async function* leavesInTree(db: Pool, size: number): AsyncGenerator<LeafHashes, undefined> {
  const tiles = Math.ceil(size / tileWidth)
  for (let next = 0; next < tiles; next += tilesPerRead) {
    const { rows } = await db.query<{ index: string; hashes: Buffer }>({
      name: 'notary-audit-tiles',
      text: `select index, hashes from notary.tiles where level = 0 and index >= $1 and index < $2 order by index`,
      values: [next, Math.min(tiles, next + tilesPerRead)],
    })
    for (let tile = next; tile < Math.min(tiles, next + tilesPerRead); tile += 1) {
      const first = tile * tileWidth
      const wanted = Math.min(tileWidth, size - first) * hashBytes
      const row = rows[tile - next]
      if (Number(row?.index) !== tile || !row || row.hashes.length < wanted)
        throw new TileIncomplete(tile, first + Math.floor((row?.hashes.length ?? 0) / hashBytes))
      yield { first, hashes: row.hashes.subarray(0, wanted) }
    }
  }
  return undefined
}
