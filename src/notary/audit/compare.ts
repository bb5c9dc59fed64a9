import type { Pool } from 'pg'
import type { Ledger } from '../../ledger/ledger.ts'
import type { RawEvent } from '../../ledger/raw/event.ts'
import type { LogSource } from '../../ledger/raw/log.ts'
import { addLeaf, type Edge, emptyEdge, type Hash, hashBytes, rootOf } from '../../transparency/tree/edge.ts'
import { leafOf } from '../leaves.ts'
import type { EventPlace } from '../tree-store.ts'
import type { PlacedLeaf } from './classify.ts'
import { leavesInTree } from './leaves-in-tree.ts'

/** Where the log and the tree are no longer the same, and both from there on. */
export type Divergence = {
  index: number
  before: EventPlace | undefined
  log: PlacedLeaf[]
  tree: string[]
  logEnds: boolean
  treeEnds: boolean
}

/** How far the comparison got. */
export type Comparison = {
  /** How many leaves are the same. */
  events: number
  /** Undefined when all leaves are the same. */
  divergence: Divergence | undefined
  /** The roots of the log's first events, as many as asked for, as far as it has so many. */
  roots: ReadonlyMap<number, Hash>
}

export type CompareOptions = {
  db: Pool
  log: LogSource
  /** How many leaves the tree has. */
  size: number
  /** Computes the roots of so many events of the log, too: it then reads on after a difference. */
  rootsAt: readonly number[]
  onProgress?: ((events: number) => void) | undefined
  signal?: AbortSignal | undefined
}

const eventsPerPage = 1000
/** How far it looks ahead for the place from which both are the same again. */
const lookAhead = 2048

/** Compares each event of the log with its leaf, up to the first difference. Memory does not grow with the log. */
export async function compareWithTree(options: CompareOptions): Promise<Comparison> {
  const { size, rootsAt, onProgress, signal } = options
  const leaves = createLeafReader(options.db, size)
  const rooted = createRoots(rootsAt)
  let index = 0
  let before: EventPlace | undefined
  let divergence: Divergence | undefined
  const isDone = () =>
    divergence ? divergence.log.length >= lookAhead && rooted.isDone() : index >= size && rooted.isDone()
  reading: for await (const { events } of options.log.pages(undefined, eventsPerPage)) {
    signal?.throwIfAborted()
    for (const event of events) {
      if (isDone()) break reading
      const { hash } = leafOf(event)
      rooted.add(hash)
      if (divergence) {
        if (divergence.log.length < lookAhead) divergence.log.push(placed(event, hash))
        continue
      }
      if (index >= size) continue
      const leaf = await leaves.next()
      if (leaf && Buffer.compare(leaf, hash) === 0) {
        index += 1
        before = placeOf(event)
      } else {
        divergence = await diverged(index, before, leaf, leaves)
        divergence.log.push(placed(event, hash))
      }
    }
    onProgress?.(index)
  }
  if (!divergence && index < size) divergence = await diverged(index, before, await leaves.next(), leaves)
  if (divergence) divergence.logEnds = divergence.log.length < lookAhead
  await leaves.close()
  return { events: index, divergence, roots: rooted.roots }
}

async function diverged(
  index: number,
  before: EventPlace | undefined,
  leaf: Buffer | undefined,
  leaves: LeafReader,
): Promise<Divergence> {
  const tree: string[] = []
  for (let next = leaf; next && tree.length < lookAhead; next = await leaves.next())
    tree.push(next.toString('hex'))
  return { index, before, log: [], tree, logEnds: false, treeEnds: tree.length < lookAhead }
}

type LeafReader = { next(): Promise<Buffer | undefined>; close(): Promise<unknown> }

/** Reads the leaf hashes one after another; none are left behind an incomplete tile, which was reported already. */
function createLeafReader(db: Pool, size: number): LeafReader {
  const tiles = leavesInTree(db, size)
  let hashes: Buffer = Buffer.alloc(0)
  let at = 0
  return {
    async next() {
      if (at >= hashes.length) {
        const read = await tiles.next().catch(() => undefined)
        if (!read || read.done) return undefined
        hashes = read.value.hashes
        at = 0
      }
      at += hashBytes
      return hashes.subarray(at - hashBytes, at)
    },
    close: () => tiles.return(undefined),
  }
}

const placeOf = ({ stream, revision, id }: RawEvent): EventPlace => ({ stream, revision, id })

const hex = (hash: Hash): string => Buffer.from(hash).toString('hex')

const placed = (event: RawEvent, hash: Hash): PlacedLeaf => ({
  place: placeOf(event),
  hash: hex(hash),
  hashAt: hashesAround(event),
})

/** The hash of an event at other revisions. The same few are asked for again and again. */
function hashesAround(event: RawEvent): PlacedLeaf['hashAt'] {
  const known = new Map<number, string>()
  return (step) => {
    const found = known.get(step) ?? hex(leafOf({ ...event, revision: event.revision + step }).hash)
    known.set(step, found)
    return found
  }
}

function createRoots(sizes: readonly number[]) {
  const roots = new Map<number, Hash>()
  const most = Math.max(0, ...sizes)
  let edge: Edge = emptyEdge
  const isDone = () => edge.size >= most
  return {
    roots,
    isDone,
    add(hash: Hash) {
      if (isDone()) return
      ;({ edge } = addLeaf(edge, hash))
      if (sizes.includes(edge.size)) roots.set(edge.size, rootOf(edge))
    },
  }
}

type Ports = { log: LogSource; ledger: Pick<Ledger, 'eventOf'>; signal?: AbortSignal | undefined }

/** A removed event leaves a gap in its stream, unless it was the last: so far ahead the next one is searched. */
const maxEvents = 20_000

/**
 * Searches an event that the log lacks: the next event of its stream stands behind the place where it is missing.
 * @param index of the place, counted in events
 * @returns undefined when no stream has a gap there
 */
export async function findGap(
  { log, ledger, signal }: Ports,
  index: number,
): Promise<Omit<EventPlace, 'id'> | undefined> {
  const seen = new Set<string>()
  let at = 0
  for await (const { events } of log.pages(undefined)) {
    signal?.throwIfAborted()
    for (const { stream, revision } of events) {
      at += 1
      if (at <= index || seen.has(stream)) continue
      if (at > index + maxEvents) return undefined
      seen.add(stream)
      const first = await firstMissingBefore(ledger, stream, revision)
      if (first !== undefined) return { stream, revision: first }
    }
  }
  return undefined
}

/** @returns the first of the revisions directly before this one that the stream lacks */
async function firstMissingBefore(
  ledger: Pick<Ledger, 'eventOf'>,
  stream: string,
  revision: number,
): Promise<number | undefined> {
  let missing: number | undefined
  while ((missing ?? revision) > 0 && !(await ledger.eventOf(stream, (missing ?? revision) - 1)))
    missing = (missing ?? revision) - 1
  return missing
}
