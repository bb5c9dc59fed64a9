import { sha256 } from './keys.ts'

/** The hash of a leaf (RFC 6962, section 2.1). */
export const leafOf = (entry: string): Buffer => sha256(Buffer.of(0), Buffer.from(entry))

const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right)

/** A Merkle tree of RFC 6962 that keeps the hash of each range that it was asked for. */
export type Tree = {
  leaves: readonly Buffer[]
  root: () => Buffer
  /** The hashes from the sibling of a leaf up (RFC 6962, section 2.1.1). */
  proof: (index: number) => Buffer[]
}

export function treeOf(leaves: readonly Buffer[]): Tree {
  const kept = new Map<string, Buffer>()
  const hashOf = (from: number, to: number): Buffer => {
    const known = kept.get(`${from}-${to}`)
    if (known) return known
    const middle = from + splitOf(to - from)
    const hash =
      to - from === 0
        ? sha256()
        : to - from === 1
          ? leafIn(leaves, from)
          : nodeOf(hashOf(from, middle), hashOf(middle, to))
    kept.set(`${from}-${to}`, hash)
    return hash
  }
  const pathOf = (index: number, from: number, to: number): Buffer[] => {
    if (to - from <= 1) return []
    const middle = from + splitOf(to - from)
    return index < middle
      ? [...pathOf(index, from, middle), hashOf(middle, to)]
      : [...pathOf(index, middle, to), hashOf(from, middle)]
  }
  return { leaves, root: () => hashOf(0, leaves.length), proof: (index) => pathOf(index, 0, leaves.length) }
}

/** The largest power of two below the size. */
const splitOf = (size: number): number => 2 ** Math.floor(Math.log2(Math.max(1, size - 1)))

function leafIn(leaves: readonly Buffer[], index: number): Buffer {
  const leaf = leaves[index]
  if (!leaf) throw new Error(`the tree has no leaf ${index}`)
  return leaf
}

/** The files of a log without its checkpoint: complete and partial tiles of each level (C2SP tlog-tiles). */
export function tilesOf(leaves: readonly Buffer[]): Map<string, Buffer> {
  const tiles = new Map<string, Buffer>()
  let row = [...leaves]
  for (let level = 0; row.length > 0; level++) {
    const above: Buffer[] = []
    for (let at = 0; at < row.length; at += 256) {
      const hashes = row.slice(at, at + 256)
      const suffix = hashes.length < 256 ? `.p/${hashes.length}` : ''
      tiles.set(`tile/${level}/${String(at / 256).padStart(3, '0')}${suffix}`, Buffer.concat(hashes))
      if (hashes.length === 256) above.push(treeOf(hashes).root())
    }
    row = above
  }
  return tiles
}
