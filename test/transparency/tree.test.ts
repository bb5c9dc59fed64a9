/** Guarantee: roots and proofs are those of RFC 6962, and a proof of anything else fails. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Edge, leafHash, rootOf } from '../../src/transparency/tree/edge.ts'
import { provesConsistency, provesInclusion } from '../../src/transparency/tree/proof.ts'
import { rangesOfConsistency, rangesOfInclusion } from '../../src/transparency/tree/ranges.ts'
import { parseTilePath, readHashes, tilePath } from '../../src/transparency/tree/tiles.ts'
import { keptTiles } from './kept-tiles.ts'
import { auditPath, consistencyProof, treeHash } from './reference.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const recordsOf = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, at) => Buffer.from(`record ${at}`))

/** The records and roots that implementations of Certificate Transparency are tested with. */
const published = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const

describe('roots', () => {
  test('the tree without leaves has the hash of nothing', () => {
    const { edge } = keptTiles([])
    expect(hex(rootOf(edge))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  test.each(published.map(([, root], at) => [at + 1, root] as const))(
    'of %i published records',
    (size, root) => {
      const records = published.slice(0, size).map(([record]) => Buffer.from(record, 'hex'))
      expect(hex(rootOf(keptTiles(records).edge))).toBe(root)
    },
  )

  test('an edge that does not fit its size is refused', async () => {
    const { addLeaf } = await import('../../src/transparency/tree/edge.ts')
    const broken: Edge = { size: 3, subtrees: [leafHash(Buffer.from('x'))] }
    expect(() => addLeaf(broken, leafHash(Buffer.from('y')))).toThrow(/does not fit/)
  })
})

/** Sizes around those where tiles and levels begin. */
const sizes = fc.oneof(
  fc.integer({ min: 1, max: 70 }),
  fc.integer({ min: 250, max: 262 }),
  fc.integer({ min: 510, max: 1030 }),
)

async function inclusion(records: readonly Uint8Array[], index: number) {
  const { read } = keptTiles(records)
  return readHashes(rangesOfInclusion(index, records.length), records.length, read)
}

async function consistency(records: readonly Uint8Array[], old: number) {
  const { read } = keptTiles(records)
  return readHashes(rangesOfConsistency(old, records.length), records.length, read)
}

describe('proofs from tiles', () => {
  test('are those of the definition, and are accepted', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), async (size, some) => {
        const records = recordsOf(size)
        const tree = { size, root: treeHash(records) }
        expect(hex(rootOf(keptTiles(records).edge))).toBe(hex(tree.root))

        const index = some % size
        const proof = await inclusion(records, index)
        expect(proof.map(hex)).toEqual(auditPath(index, records).map(hex))
        expect(provesInclusion(leafHash(records[index] ?? Buffer.of()), index, tree, proof)).toBe(true)

        const old = 1 + (some % size)
        const continued = await consistency(records, old)
        expect(continued.map(hex)).toEqual(consistencyProof(old, records).map(hex))
        const before = { size: old, root: treeHash(records.slice(0, old)) }
        expect(provesConsistency(before, tree, continued)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test('for another leaf, index, size or root, or with a changed, missing or added hash, are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 70 }), fc.nat(), fc.nat(), async (size, some, where) => {
        const records = recordsOf(size)
        const tree = { size, root: treeHash(records) }
        const index = some % size
        const leaf = leafHash(records[index] ?? Buffer.of())
        const proof = await inclusion(records, index)
        const at = where % proof.length
        const other = leafHash(Buffer.from('another'))
        expect(provesInclusion(other, index, tree, proof)).toBe(false)
        expect(provesInclusion(leaf, (index + 1) % size, tree, proof)).toBe(false)
        expect(provesInclusion(leaf, index, { ...tree, root: other }, proof)).toBe(false)
        expect(provesInclusion(leaf, index, { ...tree, size: size * 2 + 1 }, proof)).toBe(false)
        expect(provesInclusion(leaf, index, tree, proof.with(at, other))).toBe(false)
        expect(provesInclusion(leaf, index, tree, proof.toSpliced(at, 1))).toBe(false)
        expect(provesInclusion(leaf, index, tree, [...proof, other])).toBe(false)
        expect(provesInclusion(leaf, size, tree, proof)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  test('of consistency with a tree that has another leaf, or lacks one, are rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 70 }), fc.nat(), fc.nat(), async (size, some, where) => {
        const records = recordsOf(size)
        const tree = { size, root: treeHash(records) }
        const old = 1 + (some % (size - 1))
        const proof = await consistency(records, old)
        const rewritten = records.slice(0, old).with(where % old, Buffer.from('rewritten'))
        const before = { size: old, root: treeHash(records.slice(0, old)) }
        expect(provesConsistency(before, tree, proof)).toBe(true)
        expect(provesConsistency({ size: old, root: treeHash(rewritten) }, tree, proof)).toBe(false)
        expect(provesConsistency(tree, before, proof)).toBe(false)
        expect(provesConsistency(before, tree, [...proof, before.root])).toBe(false)
        expect(provesConsistency(before, tree, proof.slice(1))).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  test('a tree is consistent with itself and with the empty one, without a proof', () => {
    const tree = { size: 3, root: treeHash(recordsOf(3)) }
    expect(provesConsistency(tree, tree, [])).toBe(true)
    expect(provesConsistency({ size: 0, root: treeHash([]) }, tree, [])).toBe(true)
    expect(provesConsistency({ ...tree, root: treeHash([]) }, tree, [])).toBe(false)
  })
})

describe('paths of tiles', () => {
  test('are those of the specification', () => {
    expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe('tile/0/x001/x234/067')
    expect(tilePath({ level: 2, index: 0, width: 17 })).toBe('tile/2/000.p/17')
  })

  test('lead back to the tile', () => {
    const tiles = fc.record({
      level: fc.integer({ min: 0, max: 5 }),
      index: fc.nat({ max: 2 ** 40 }),
      width: fc.integer({ min: 1, max: 256 }),
    })
    fc.assert(
      fc.property(tiles, (tile) => {
        expect(parseTilePath(tilePath(tile))).toEqual(tile)
      }),
    )
  })

  test.each([
    'tile/00/000',
    'tile/0/0',
    'tile/0/x000/000',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/64/000',
    'tile/0/../000',
    'tile/0/001/000',
    'tile/entries/000',
  ])('%s is no tile', (path) => {
    expect(parseTilePath(path)).toBeUndefined()
  })
})
