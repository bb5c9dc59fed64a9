import { type Hash, nodeHash, sameHash } from './edge.ts'
import { largestSplit } from './ranges.ts'

/** A proof is given for something that the tree does not have, such as a leaf after its end. */
export class ProofError extends Error {}

/**
 * Computes the root that an inclusion proof leads to (RFC 9162, section 2.1.3.2).
 * @param proof from the sibling of the leaf up
 * @throws ProofError when the proof has the wrong length or the index is outside of the tree
 */
function rootFromInclusion(leaf: Hash, index: number, size: number, proof: readonly Hash[]): Hash {
  if (!(index >= 0 && index < size)) throw new ProofError('the index is outside of the tree')
  let at = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) throw new ProofError('the proof is too long')
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[at, last] = [half(at), half(last)]
  }
  if (last !== 0) throw new ProofError('the proof is too short')
  return hash
}

const half = (value: number): number => Math.floor(value / 2)

/** Whether a leaf is at an index of the tree with this root. */
export function provesInclusion(
  leaf: Hash,
  index: number,
  tree: { size: number; root: Hash },
  proof: readonly Hash[],
): boolean {
  return holds(() => sameHash(rootFromInclusion(leaf, index, tree.size, proof), tree.root))
}

type Tree = { size: number; root: Hash }

/** Whether a tree begins with all leaves of an older one, in the same order (RFC 6962, section 2.1.2). */
export function provesConsistency(old: Tree, tree: Tree, proof: readonly Hash[]): boolean {
  return holds(() => {
    if (old.size > tree.size) return false
    if (old.size === 0) return proof.length === 0
    if (old.size === tree.size) return proof.length === 0 && sameHash(old.root, tree.root)
    const rest = [...proof]
    const roots = rebuild(old, tree.size, true, rest)
    return rest.length === 0 && sameHash(roots.old, old.root) && sameHash(roots.whole, tree.root)
  })
}

/**
 * Rebuilds the roots of the first `old.size` leaves and of all `size` leaves, with the hashes of a proof from its end:
 * the mirror image of how the proof is made.
 * @param isOldRoot the first leaves are the whole old tree, whose root the verifier knows
 */
function rebuild(old: Tree, size: number, isOldRoot: boolean, rest: Hash[]): { old: Hash; whole: Hash } {
  if (old.size === size) {
    const hash = isOldRoot ? old.root : lastOf(rest)
    return { old: hash, whole: hash }
  }
  const split = largestSplit(size)
  const other = lastOf(rest)
  if (old.size <= split) {
    const left = rebuild(old, split, isOldRoot, rest)
    return { old: left.old, whole: nodeHash(left.whole, other) }
  }
  const right = rebuild({ ...old, size: old.size - split }, size - split, false, rest)
  return { old: nodeHash(other, right.old), whole: nodeHash(other, right.whole) }
}

function lastOf(rest: Hash[]): Hash {
  const hash = rest.pop()
  if (!hash) throw new ProofError('the proof is too short')
  return hash
}

function holds(check: () => boolean): boolean {
  try {
    return check()
  } catch (error) {
    if (error instanceof ProofError) return false
    throw error
  }
}
