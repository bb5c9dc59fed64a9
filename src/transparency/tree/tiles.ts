import { type Hash, hashBytes, nodeHash } from './edge.ts'
import { completeSubtrees, type Range } from './ranges.ts'

/** Levels of the tree within one tile, and hashes in a full tile: C2SP tlog-tiles. */
export const tileHeight = 8
export const tileWidth = 256

/** A tile: `width` consecutive hashes of subtrees with 256^`level` leaves each. */
export type Tile = { level: number; index: number; width: number }

/**
 * @returns the path of a tile below the prefix of the log, such as `tile/0/x001/234.p/7`
 * @see https://c2sp.org/tlog-tiles
 */
export function tilePath({ level, index, width }: Tile): string {
  const suffix = width < tileWidth ? `.p/${String(width)}` : ''
  return `tile/${String(level)}/${indexPath(index)}${suffix}`
}

function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
}

/** @returns the tile that {@link tilePath} names; undefined for any other path */
export function parseTilePath(path: string): Tile | undefined {
  const match = /^tile\/(0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path)
  if (!match) return undefined
  const [, level = '', groups = '', width] = match
  const tile = {
    level: Number(level),
    index: Number(groups.replace(/[x/]/g, '')),
    width: width === undefined ? tileWidth : Number(width),
  }
  // A path that is written in another way, such as with leading groups of zeros, is no tile.
  return Number.isSafeInteger(tile.index) && tile.level <= 63 && tilePath(tile) === path ? tile : undefined
}

/** @returns how many hashes there are at the level of a tile in a tree of this size */
const hashesAt = (level: number, size: number): number => Math.floor(size / tileWidth ** level)

/** Reads the hashes of a tile, one after another. It is asked only for tiles that the tree has. */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>

/**
 * Reads the hash of each range of a proof.
 * @param size of the tree; the ranges are those of a proof for it
 */
export async function readHashes(ranges: readonly Range[], size: number, read: ReadTile): Promise<Hash[]> {
  const tiles = new Map<string, Promise<Uint8Array>>()
  const once = (tile: Tile): Promise<Uint8Array> => {
    const path = tilePath(tile)
    const reading = tiles.get(path) ?? read(tile)
    tiles.set(path, reading)
    return reading
  }
  return Promise.all(
    ranges.map(async (range) => {
      const subtrees = completeSubtrees(range).map((subtree) => subtreeHash(subtree, size, once))
      return (await Promise.all(subtrees)).reduceRight((right, left) => nodeHash(left, right))
    }),
  )
}

async function subtreeHash(
  { level, index }: { level: number; index: number },
  size: number,
  read: ReadTile,
): Promise<Hash> {
  const tileLevel = Math.floor(level / tileHeight)
  const count = 2 ** (level % tileHeight)
  const first = index * count
  const tileIndex = Math.floor(first / tileWidth)
  const width = Math.min(tileWidth, hashesAt(tileLevel, size) - tileIndex * tileWidth)
  const hashes = await read({ level: tileLevel, index: tileIndex, width })
  const start = first - tileIndex * tileWidth
  const row = Array.from({ length: count }, (_, at) =>
    hashes.subarray((start + at) * hashBytes, (start + at + 1) * hashBytes),
  )
  return joined(row)
}

/** The hash above a row of hashes whose number is a power of two. */
function joined(row: readonly Hash[]): Hash {
  const [only] = row
  if (row.length === 1 && only) return only
  const middle = row.length / 2
  return nodeHash(joined(row.slice(0, middle)), joined(row.slice(middle)))
}
