import {
  addLeaf,
  type Edge,
  emptyEdge,
  type Hash,
  hashBytes,
  rootOf,
  sameHash,
} from '../transparency/tree/edge.ts'
import { type ReadTile, type Tile, tileHeight, tilePath, tileWidth } from '../transparency/tree/tiles.ts'
import { compareRecords } from './compare-records.ts'
import { checkNotShorter, forked, openKept } from './kept.ts'
import { NotProved } from './not-proved.ts'
import { openCheckpoint, type Trust, type TrustedCheckpoint } from './trust.ts'

/** A log as files: C2SP tlog-tiles, and optionally its records. */
export type StoredLog = {
  checkpoint: string
  tile: ReadTile
  /** The canonical records in log order; undefined when there are none. */
  records: AsyncIterable<Uint8Array> | undefined
}

/** What a log directory proves. */
export type ProvedLog = {
  checkpoint: TrustedCheckpoint
  /** Whether the records were compared too. */
  records: boolean
  kept: TrustedCheckpoint | undefined
}

/**
 * Computes the tree of a log again, and compares it with its checkpoint, its records and a kept checkpoint.
 * @throws NotProved which names the first event that differs, is missing, was added or stands in another order
 */
export async function verifyLog(log: StoredLog, trust: Trust, kept?: string): Promise<ProvedLog> {
  const old = kept === undefined ? undefined : openKept(kept, trust)
  const checkpoint = openCheckpoint(log.checkpoint, trust)
  if (old) checkNotShorter(old, checkpoint)
  const found = await computeTree(log, checkpoint.size, old?.size)
  checkRoots(found, checkpoint)
  if (found.difference) throw found.difference
  if (found.damaged !== undefined)
    throw new NotProved(
      'differs',
      `${found.damaged} differs from the tiles below it, which are right. Get it again.`,
    )
  if (old && !(found.rootOfKept && sameHash(found.rootOfKept, old.root))) throw forked(old, checkpoint)
  return { checkpoint, records: log.records !== undefined, kept: old }
}

type Computed = {
  root: Hash
  rootOfRecords: Hash | undefined
  rootOfKept: Hash | undefined
  /** The first difference between records and tiles of leaves. */
  difference: NotProved | undefined
  /** The first tile above the leaves that differs from what is below it. */
  damaged: string | undefined
  /** The leaves below the first such hash. */
  damagedLeaves: { from: number; to: number } | undefined
}

async function computeTree(log: StoredLog, size: number, keptSize: number | undefined): Promise<Computed> {
  const records = log.records?.[Symbol.asyncIterator]()
  const nextRecord = async (): Promise<Uint8Array | undefined> => {
    const next = await records?.next()
    return next === undefined || next.done === true ? undefined : next.value
  }
  const comparison = compareRecords()
  const upper = upperHashes(log.tile, size)
  let edge: Edge = emptyEdge
  let ofRecords: Edge | undefined
  let rootOfKept = keptSize === 0 ? rootOf(edge) : undefined
  let damaged: Pick<Computed, 'damaged' | 'damagedLeaves'> = { damaged: undefined, damagedLeaves: undefined }
  for await (const leaves of leafTiles(log.tile, size)) {
    for (const leaf of leaves) {
      const before = edge
      const added = addLeaf(edge, leaf)
      edge = added.edge
      if (edge.size === keptSize) rootOfKept = rootOf(edge)
      for (const { level, hash } of added.completed)
        if (level > 0 && level % tileHeight === 0 && damaged.damaged === undefined)
          damaged = await compareUpper(upper, level / tileHeight, edge.size, hash, size)
      if (!records) continue
      const found = comparison.next(leaf, await nextRecord())
      // The trees are the same up to the first difference.
      if (!ofRecords && !(found && sameHash(found, leaf))) ofRecords = before
      if (ofRecords && found) ofRecords = addLeaf(ofRecords, found).edge
    }
  }
  for (let record = await nextRecord(); record; record = await nextRecord())
    comparison.next(undefined, record)
  return {
    root: rootOf(edge),
    rootOfRecords: ofRecords?.size === size ? rootOf(ofRecords) : undefined,
    rootOfKept,
    difference: comparison.difference(),
    ...damaged,
  }
}

async function compareUpper(
  upper: ReturnType<typeof upperHashes>,
  level: number,
  leaves: number,
  hash: Hash,
  size: number,
): Promise<Pick<Computed, 'damaged' | 'damagedLeaves'>> {
  const below = tileWidth ** level
  const at = leaves / below - 1
  const stored = await upper(level, at)
  if (stored && sameHash(stored, hash)) return { damaged: undefined, damagedLeaves: undefined }
  const index = Math.floor(at / tileWidth)
  const width = Math.min(tileWidth, Math.floor(size / below) - index * tileWidth)
  return {
    damaged: tilePath({ level, index, width }),
    damagedLeaves: { from: leaves - below, to: leaves - 1 },
  }
}

/** @throws NotProved when the tiles do not have the signed root */
function checkRoots(
  { root, rootOfRecords, difference, damagedLeaves }: Computed,
  checkpoint: TrustedCheckpoint,
): void {
  if (sameHash(root, checkpoint.root)) return
  const signed = `the tree of ${String(checkpoint.size)} events that was signed`
  if (rootOfRecords && sameHash(rootOfRecords, checkpoint.root)) {
    const index = Math.floor((difference?.event?.index ?? 0) / tileWidth)
    const width = Math.min(tileWidth, checkpoint.size - index * tileWidth)
    const path = tilePath({ level: 0, index, width })
    throw new NotProved(
      'differs',
      `${path} was changed: the records make ${signed}, and the tile does not. Get it again.`,
    )
  }
  if (difference)
    throw new NotProved(difference.finding, `The tiles do not make ${signed}. ${difference.message}`, {
      ...difference.event,
    })
  if (damagedLeaves) {
    const { from, to } = damagedLeaves
    throw new NotProved(
      'differs',
      `The tiles do not make ${signed}: one of the events ${String(from)} to ${String(to)} was changed.`,
      { index: from },
    )
  }
  throw new NotProved(
    'differs',
    `The tiles agree with each other, and do not make ${signed}: the log was rewritten, or the checkpoint is of another ` +
      'log. Compare it with an older copy.',
  )
}

/** @returns the hashes of a tile. @throws NotProved when it has another length */
async function readTileHashes(read: ReadTile, tile: Tile): Promise<Hash[]> {
  const bytes = await read(tile)
  if (bytes.length !== tile.width * hashBytes)
    throw new NotProved(
      'malformed',
      `${tilePath(tile)} has ${String(bytes.length)} bytes instead of ${String(tile.width * hashBytes)}. Get it again.`,
    )
  return Array.from({ length: tile.width }, (_, at) => bytes.subarray(at * hashBytes, (at + 1) * hashBytes))
}

/** The tiles of leaves of a log, from left to right. */
async function* leafTiles(read: ReadTile, size: number): AsyncIterable<Hash[]> {
  for (let index = 0; index * tileWidth < size; index += 1)
    yield await readTileHashes(read, {
      level: 0,
      index,
      width: Math.min(tileWidth, size - index * tileWidth),
    })
}

/** Reads single hashes of the levels above the leaves, in order: each tile once. */
function upperHashes(
  read: ReadTile,
  size: number,
): (level: number, index: number) => Promise<Hash | undefined> {
  const last = new Map<number, { index: number; hashes: Hash[] }>()
  return async (level, at) => {
    const index = Math.floor(at / tileWidth)
    let known = last.get(level)
    if (known?.index !== index) {
      const width = Math.min(tileWidth, Math.floor(size / tileWidth ** level) - index * tileWidth)
      known = { index, hashes: await readTileHashes(read, { level, index, width }) }
      last.set(level, known)
    }
    return known.hashes[at % tileWidth]
  }
}
