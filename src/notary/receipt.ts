import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Ledger } from '../ledger/ledger.ts'
import type { RawEvent } from '../ledger/raw/event.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { formatProof } from '../transparency/proof-file.ts'
import type { Hash } from '../transparency/tree/edge.ts'
import { rangesOfInclusion } from '../transparency/tree/ranges.ts'
import { type ReadTile, readHashes, tileWidth } from '../transparency/tree/tiles.ts'
import { lastEventOf, readCheckpoint } from './checkpoints.ts'
import { recordOf } from './leaves.ts'
import { type EventPlace, firstEventOfTile, tileReader, tilesKeptInMemory } from './tree-store.ts'
import { isWithheld } from './withheld.ts'
import { withCosignatures } from './witnesses.ts'

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
  /** The position of the last event that it covers. */
  through: bigint
  /**
   * Proves events, in the order given. Each part of the log and each tile is read once, by all calls together.
   * @returns undefined for an event that the checkpoint does not cover, or that is not at that position
   */
  prove: (events: readonly PlacedEvent[]) => Promise<(Inclusion | undefined)[]>
}

/** Opens the last checkpoint for proofs. @returns undefined before the first one, or when the log lacks its events */
async function openProver(ports: ReceiptPorts): Promise<Prover | undefined> {
  const { db, ledger } = ports
  const checkpoint = await readCheckpoint(db)
  const last = checkpoint && (await lastEventOf(db, checkpoint.size))
  const found = last && (await ledger.eventOf(last.stream, last.revision))
  if (!checkpoint || !found) return undefined
  const { size } = checkpoint
  const read = tilesKeptInMemory(tileReader(db))
  const find = leafFinder(ports, size)
  return {
    checkpoint: await withCosignatures(db, checkpoint),
    through: found.position,
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
  let part = new Map<bigint, FoundLeaf>()
  return async (position) => {
    const known = part.get(position)
    if (known) return known
    let [tile, beyond] = [0, Math.ceil(size / tileWidth)]
    while (beyond - tile > 1) {
      const middle = Math.floor((tile + beyond) / 2)
      if ((await startOf(middle)) > position) beyond = middle
      else tile = middle
    }
    part = await readPart(log, tile, position, startOf)
    return part.get(position)
  }
}

/**
 * The events of a tile. A read begins after an event: after the first one of the tile, or when that one is looked for, after the
 * first one of the tile before.
 */
async function readPart(
  log: LogSource,
  tile: number,
  position: bigint,
  startOf: (tile: number) => Promise<bigint>,
): Promise<Map<bigint, FoundLeaf>> {
  const leaves = new Map<bigint, FoundLeaf>()
  const isFirst = (await startOf(tile)) === position
  const from = isFirst ? tile - 1 : tile
  let index = from < 0 ? 0 : from * tileWidth + 1
  const count = (tile + 1) * tileWidth - index
  for await (const { events } of log.pages(from < 0 ? undefined : await startOf(from), count)) {
    for (const event of events) {
      leaves.set(event.position, { event, index })
      index += 1
    }
    if (index >= (tile + 1) * tileWidth) break
  }
  return leaves
}

/** An event by its stream and its revision there. */
type EventName = { stream: string; revision: number }

/** `withheld`: the record would tell the hash of a key that can be guessed from it. */
type ReceiptAnswer = Receipt | 'withheld' | undefined

export type Receipts = {
  /**
   * Waits for the checkpoint of a new event, unless no notary has ever run.
   * @returns undefined when no checkpoint covers the event yet, or there is no such event
   */
  waitFor(event: EventName): Promise<ReceiptAnswer>
  /** Opens the last checkpoint, to prove many events. @returns undefined before the first one */
  open(): Promise<Prover | undefined>
}

/** The notary signs once a second; after this time it does not run, or does not keep up. */
const waitMs = 2000
const pollMs = 100

export function createReceipts(
  ports: ReceiptPorts & { ledger: Pick<Ledger, 'eventOf' | 'readStream'> },
): Receipts {
  const isSigned = async () => (await readCheckpoint(ports.db)) !== undefined
  return {
    open: () => openProver(ports),
    async waitFor(event) {
      if (await isWithheld(ports.ledger, event)) return 'withheld'
      for (let waited = 0; ; waited += pollMs) {
        const receipt = await makeReceipt(ports, event)
        if (receipt || waited >= waitMs || !(await isSigned())) return receipt
        await pause(pollMs)
      }
    },
  }
}
