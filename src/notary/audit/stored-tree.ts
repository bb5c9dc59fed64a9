import type { Pool } from 'pg'
import {
  addLeaf,
  type Completed,
  type Edge,
  emptyEdge,
  type Hash,
  hashBytes,
  rootOf,
  sameHash,
} from '../../transparency/tree/edge.ts'
import { tileHeight, tileWidth } from '../../transparency/tree/tiles.ts'
import { tileReader } from '../tree-store.ts'
import { leavesInTree, TileIncomplete } from './leaves-in-tree.ts'

/** What the leaves in the database add up to. */
export type StoredTree = {
  /** The roots of the asked sizes. */
  roots: ReadonlyMap<number, Hash>
  /** What does not belong together; undefined when the tree is sound. */
  problem: { index: number; says: string; incomplete: boolean } | undefined
}

/**
 * Computes the tree from its leaves as they are stored: all upper tiles, the edge, and the roots of some sizes.
 * @param sizes of which the root is wanted, none above the tree's
 */
export async function computeStoredTree(
  db: Pool,
  stored: Edge,
  sizes: ReadonlySet<number>,
  signal?: AbortSignal,
): Promise<StoredTree> {
  const roots = new Map<number, Hash>(sizes.has(0) ? [[0, rootOf(emptyEdge)]] : [])
  const upper = upperTiles(db, stored.size)
  let edge = emptyEdge
  let problem: StoredTree['problem']
  try {
    for await (const { hashes } of leavesInTree(db, stored.size)) {
      signal?.throwIfAborted()
      for (let at = 0; at < hashes.length; at += hashBytes) {
        const added = addLeaf(edge, hashes.subarray(at, at + hashBytes))
        edge = added.edge
        if (sizes.has(edge.size)) roots.set(edge.size, rootOf(edge))
        if (added.completed.length > tileHeight)
          problem ??= await upper.wrongAmong(added.completed, edge.size)
      }
    }
  } catch (error) {
    if (!(error instanceof TileIncomplete)) throw error
    return { roots, problem: { index: error.leaf, says: error.message, incomplete: true } }
  }
  if (!problem && !sameEdge(edge, stored))
    problem = {
      index: stored.size,
      says: 'the edge of the tree does not belong to its leaves',
      incomplete: false,
    }
  return { roots, problem }
}

const sameEdge = (one: Edge, other: Edge): boolean =>
  one.size === other.size &&
  one.subtrees.length === other.subtrees.length &&
  one.subtrees.every((hash, at) => {
    const found = other.subtrees[at]
    return found !== undefined && sameHash(hash, found)
  })

/** Compares completed subtrees with the tiles above the leaves, of which one is held for each level. */
function upperTiles(db: Pool, size: number) {
  const read = tileReader(db)
  const held = new Map<number, { index: number; hashes: Uint8Array }>()
  async function tileOf(level: number, index: number): Promise<Uint8Array> {
    const found = held.get(level)
    if (found?.index === index) return found.hashes
    const width = Math.min(tileWidth, Math.floor(size / tileWidth ** level) - index * tileWidth)
    const hashes = await read({ level, index, width }).catch(() => new Uint8Array())
    held.set(level, { index, hashes })
    return hashes
  }
  return {
    async wrongAmong(completed: readonly Completed[], leaves: number): Promise<StoredTree['problem']> {
      for (const { level: height, hash } of completed) {
        if (height === 0 || height % tileHeight !== 0) continue
        const level = height / tileHeight
        const place = leaves / tileWidth ** level - 1
        const index = Math.floor(place / tileWidth)
        const start = (place % tileWidth) * hashBytes
        const hashes = await tileOf(level, index)
        if (!sameHash(hashes.subarray(start, start + hashBytes), hash))
          return {
            index: leaves - tileWidth ** level,
            says: `tile ${String(level)}/${String(index)} does not belong to the leaves below it`,
            incomplete: false,
          }
      }
      return undefined
    },
  }
}
