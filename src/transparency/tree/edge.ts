import { emptyRoot, type Hash, nodeHash } from './hash.ts'

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
