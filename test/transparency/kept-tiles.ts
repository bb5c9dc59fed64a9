import { addLeaf, type Edge, emptyEdge, leafHash } from '../../src/transparency/tree/edge.ts'
import { type ReadTile, tileHeight, tileWidth } from '../../src/transparency/tree/tiles.ts'

/** A log of records whose tiles are kept in memory. */
export function keptTiles(records: readonly Uint8Array[]) {
  let edge: Edge = emptyEdge
  const rows: Uint8Array[][] = []
  for (const record of records) {
    const added = addLeaf(edge, leafHash(record))
    edge = added.edge
    for (const { level, hash } of added.completed) {
      if (level % tileHeight !== 0) continue
      const row = rows[level / tileHeight]
      if (row) row.push(hash)
      else rows.push([hash])
    }
  }
  const read: ReadTile = ({ level, index, width }) => {
    const hashes = rows[level]?.slice(index * tileWidth, index * tileWidth + width) ?? []
    if (hashes.length !== width) throw new Error(`the log has no tile ${level}/${index} of width ${width}`)
    return Promise.resolve(Buffer.concat(hashes))
  }
  return { edge, read }
}
