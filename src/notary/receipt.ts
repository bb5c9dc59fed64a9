import type { Pool } from 'pg'
import type { Ledger } from '../ledger/ledger.ts'
import type { RawEvent } from '../ledger/raw/event.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { formatProof } from '../transparency/proof-file.ts'
import type { Hash } from '../transparency/tree/hash.ts'
import { rangesOfInclusion } from '../transparency/tree/ranges.ts'
import { type ReadTile, readHashes, tileWidth } from '../transparency/tree/tiles.ts'
import { readCheckpoint } from './checkpoints.ts'
import { withCosignatures } from './cosignatures.ts'
import { recordOf } from './leaves.ts'
import { tilesKeptInMemory } from './tile-cache.ts'
import { type EventPlace, firstEventOfTile, tileReader } from './tree-store.ts'

/** What proves that an event is in the log. */
export type Receipt = {
  /** The bytes whose leaf hash is proved: canonical JSON. */
  record: string
  /** A `.tlog-proof` file. */
  proof: string
}

export type ReceiptPorts = {
  db: Pool
  log: LogSource
  ledger: Pick<Ledger, 'eventOf'>
}

/** An event by its stream and its revision there, and its position in the log. */
export type PlacedEvent = Omit<EventPlace, 'id'> & { position: bigint }

/** Where an event stands in the tree of a checkpoint, and why. */
export type Inclusion = { record: string; index: number; proof: readonly Hash[] }

/** Proofs that lead to one checkpoint. */
export type Prover = {
  /** As it is published, with its cosignatures. */
  checkpoint: string
  size: number
  /**
   * Proves events, in the order given. Each part of the log and each tile is read once, by all calls together.
   * @returns undefined for an event that the checkpoint does not cover, or that is not at that position
   */
  prove: (events: readonly PlacedEvent[]) => Promise<(Inclusion | undefined)[]>
}

/** Opens the last checkpoint for proofs. @returns undefined before the first one */
export async function openProver(ports: ReceiptPorts): Promise<Prover | undefined> {
  const { db } = ports
  const checkpoint = await readCheckpoint(db)
  if (!checkpoint) return undefined
  const { size } = checkpoint
  const read = tilesKeptInMemory(tileReader(db))
  const find = leafFinder(ports, size)
  return {
    checkpoint: await withCosignatures(db, checkpoint),
    size,
    async prove(events) {
      const proved: (Inclusion | undefined)[] = []
      for (const event of events) proved.push(await proveOne(event, size, find, read))
      return proved
    },
  }
}

async function proveOne(
  { stream, revision, position }: PlacedEvent,
  size: number,
  find: FindLeaf,
  read: ReadTile,
): Promise<Inclusion | undefined> {
  const leaf = await find(position)
  if (!leaf || leaf.index >= size) return undefined
  const { event, index } = leaf
  // The position may be of a copy of the log that was replaced since.
  if (event.stream !== stream || event.revision !== revision) return undefined
  const proof = await readHashes(rangesOfInclusion(index, size), size, read)
  return { record: Buffer.from(recordOf(event)).toString(), index, proof }
}

/** @returns the receipt of an event */
export const receiptOf = (
  { record, index, proof }: Inclusion,
  { checkpoint }: Pick<Prover, 'checkpoint'>,
): Receipt => ({ record, proof: formatProof({ index, proof, checkpoint }) })

/**
 * Makes the receipt of an event.
 * @returns undefined when no checkpoint covers it yet, or there is no such event
 */
export async function makeReceipt(
  ports: ReceiptPorts,
  { stream, revision }: Omit<EventPlace, 'id'>,
): Promise<Receipt | undefined> {
  const [event, prover] = await Promise.all([ports.ledger.eventOf(stream, revision), openProver(ports)])
  if (!event || !prover) return undefined
  const [inclusion] = await prover.prove([{ stream, revision, position: event.position }])
  return inclusion && receiptOf(inclusion, prover)
}

type FoundLeaf = { event: RawEvent; index: number }
type FindLeaf = (position: bigint) => Promise<FoundLeaf | undefined>

/**
 * Finds the event at a position, and its index: the tile is searched for, and its part of the log read. The part of the last
 * search is kept, since events that are asked for together often stand together.
 */
function leafFinder({ db, log, ledger }: ReceiptPorts, size: number): FindLeaf {
  const starts = new Map<number, Promise<bigint>>()
  const readStart = async (tile: number): Promise<bigint> => {
    const first = await firstEventOfTile(db, tile)
    const found = first && (await ledger.eventOf(first.stream, first.revision))
    if (!found) throw new Error(`the first event of tile ${String(tile)} is not in the log`)
    return found.position
  }
  const startOf = (tile: number): Promise<bigint> => {
    const reading = starts.get(tile) ?? readStart(tile)
    starts.set(tile, reading)
    return reading
  }
  let part: { tile: number; leaves: Map<bigint, FoundLeaf> } | undefined
  return async (position) => {
    const known = part?.leaves.get(position)
    if (known) return known
    let [tile, beyond] = [0, Math.ceil(size / tileWidth)]
    while (beyond - tile > 1) {
      const middle = Math.floor((tile + beyond) / 2)
      if ((await startOf(middle)) > position) beyond = middle
      else tile = middle
    }
    if (part?.tile !== tile) part = { tile, leaves: await readPart(log, tile, startOf) }
    return part.leaves.get(position)
  }
}

/** The events of a tile, and those of the tile before it: a read begins after an event, so it begins after that one's first. */
async function readPart(
  log: LogSource,
  tile: number,
  startOf: (tile: number) => Promise<bigint>,
): Promise<Map<bigint, FoundLeaf>> {
  const leaves = new Map<bigint, FoundLeaf>()
  let index = tile === 0 ? 0 : (tile - 1) * tileWidth + 1
  const end = (tile + 1) * tileWidth
  for await (const { events } of log.pages(tile === 0 ? undefined : await startOf(tile - 1), 2 * tileWidth)) {
    for (const event of events) {
      leaves.set(event.position, { event, index })
      index += 1
    }
    if (index >= end) break
  }
  return leaves
}
