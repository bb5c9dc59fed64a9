/** Leaves from `start` up to and without `end`. */
export type Range = { start: number; end: number }

/** @returns the largest power of two below a size of at least 2 */
export function largestSplit(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** @returns the ranges whose hashes prove the inclusion of a leaf, from its sibling up (RFC 6962, section 2.1.1) */
export function rangesOfInclusion(index: number, size: number): Range[] {
  const ranges: Range[] = []
  let range = { start: 0, end: size }
  while (range.end - range.start > 1) {
    const { left, right } = halvesOf(range)
    const isLeft = index < left.end
    ranges.push(isLeft ? right : left)
    range = isLeft ? left : right
  }
  return ranges.reverse()
}

/** @returns the ranges whose hashes prove that a tree continues its first `old` leaves (RFC 6962, section 2.1.2) */
export function rangesOfConsistency(old: number, size: number): Range[] {
  if (old === 0 || old === size) return []
  const ranges: Range[] = []
  let range = { start: 0, end: size }
  while (range.end !== old) {
    const { left, right } = halvesOf(range)
    const isLeft = old <= left.end
    ranges.push(isLeft ? right : left)
    range = isLeft ? left : right
  }
  // The verifier knows the root of the old tree, but no other hash of its leaves.
  if (range.start !== 0) ranges.push(range)
  return ranges.reverse()
}

function halvesOf({ start, end }: Range): { left: Range; right: Range } {
  const middle = start + largestSplit(end - start)
  return { left: { start, end: middle }, right: { start: middle, end } }
}

/** @returns the complete subtrees that a range of a proof consists of, from left to right */
export function completeSubtrees({ start, end }: Range): { level: number; index: number }[] {
  const subtrees: { level: number; index: number }[] = []
  let at = start
  for (let level = 52; level >= 0; level -= 1) {
    const leaves = 2 ** level
    if (end - at >= leaves) {
      subtrees.push({ level, index: at / leaves })
      at += leaves
    }
  }
  return subtrees
}
