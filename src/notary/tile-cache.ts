import { type ReadTile, tilePath } from '../transparency/tree/tiles.ts'

/** More than the tiles of one page of proofs; a proof has about three. */
const most = 64

/** Reads each tile once, and keeps the last ones. */
export function tilesKeptInMemory(read: ReadTile): ReadTile {
  const kept = new Map<string, Promise<Uint8Array>>()
  return (tile) => {
    const path = tilePath(tile)
    const reading = kept.get(path) ?? read(tile)
    // The last one that was used stands at the end.
    kept.delete(path)
    kept.set(path, reading)
    const [oldest] = kept.keys()
    if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    return reading
  }
}
