import { createHash } from 'node:crypto'

/**
 * All that is needed of a tree to add leaves to it: the hashes of the largest complete subtrees that it consists of, from left
 * to right. A tree of 13 leaves has three, of 8, 4 and 1 leaves.
 */
export type Edge = { size: number; subtrees: readonly Hash[] }

export const emptyEdge: Edge = { size: 0, subtrees: [] }

/** A complete subtree that a leaf has completed: `level` 0 is a leaf, `level` 3 has 8 leaves. */
export type Completed = { level: number; hash: Hash }

/**
 * Adds a leaf.
 * @returns the tree with it, and the subtrees that it completed, from the leaf up
 */
export function addLeaf({ size, subtrees }: Edge, leaf: Hash): { edge: Edge; completed: Completed[] } {
  const rest = [...subtrees]
  let hash = leaf
  const completed: Completed[] = [{ level: 0, hash }]
  // Two subtrees of the same size are one of twice the size, as ones carry when a number is incremented.
  for (let level = 0, ones = size; ones % 2 === 1; ones = (ones - 1) / 2) {
    const left = rest.pop()
    if (!left) throw new Error('the edge of the tree does not fit its size')
    hash = nodeHash(left, hash)
    level += 1
    completed.push({ level, hash })
  }
  rest.push(hash)
  return { edge: { size: size + 1, subtrees: rest }, completed }
}

/** @returns the root of the tree (RFC 6962, section 2.1) */
export function rootOf({ subtrees }: Edge): Hash {
  if (subtrees.length === 0) return emptyRoot()
  return subtrees.reduceRight((right, left) => nodeHash(left, right))
}

/** A SHA-256 hash, 32 bytes. */
export type Hash = Uint8Array

export const hashBytes = 32

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** @returns the hash of a record as a leaf (RFC 6962, section 2.1) */
export const leafHash = (record: Uint8Array): Hash =>
  createHash('sha256').update(leafPrefix).update(record).digest()

/** @returns the hash of the node above two others (RFC 6962, section 2.1) */
export const nodeHash = (left: Hash, right: Hash): Hash =>
  createHash('sha256').update(nodePrefix).update(left).update(right).digest()

/** @returns the root of the tree without leaves */
export const emptyRoot = (): Hash => createHash('sha256').digest()

/** Roots are public, so this need not take the same time for all. */
export const sameHash = (left: Hash, right: Hash): boolean => Buffer.compare(left, right) === 0
