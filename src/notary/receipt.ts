import type { Pool } from 'pg'
import type { Ledger } from '../ledger/ledger.ts'
import type { LogSource } from '../ledger/raw/log.ts'
import { formatProof } from '../transparency/proof-file.ts'
import { rangesOfInclusion } from '../transparency/tree/ranges.ts'
import { readHashes, tileWidth } from '../transparency/tree/tiles.ts'
import { readCheckpoint } from './checkpoints.ts'
import { recordOf } from './leaves.ts'
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

/**
 * Makes the receipt of an event.
 * @returns undefined when no checkpoint covers it yet, or there is no such event
 */
export async function makeReceipt(
  ports: ReceiptPorts,
  place: Omit<EventPlace, 'id'>,
): Promise<Receipt | undefined> {
  const { db, ledger } = ports
  const [event, checkpoint] = await Promise.all([
    ledger.eventOf(place.stream, place.revision),
    readCheckpoint(db),
  ])
  if (!event || !checkpoint) return undefined
  const found = await findLeaf(ports, event.position, checkpoint.size)
  if (!found || found.index >= checkpoint.size) return undefined
  const { index, record } = found
  const proof = await readHashes(rangesOfInclusion(index, checkpoint.size), checkpoint.size, tileReader(db))
  return {
    record: Buffer.from(record).toString(),
    proof: formatProof({ index, proof, checkpoint: checkpoint.note }),
  }
}

/** The index of the event at a position, and its bytes: the tile is searched for, and its part of the log read. */
async function findLeaf({ db, log, ledger }: ReceiptPorts, position: bigint, size: number) {
  const startOf = async (tile: number): Promise<bigint> => {
    const first = await firstEventOfTile(db, tile)
    const found = first && (await ledger.eventOf(first.stream, first.revision))
    if (!found) throw new Error(`the first event of tile ${String(tile)} is not in the log`)
    return found.position
  }
  let [tile, beyond] = [0, Math.ceil(size / tileWidth)]
  while (beyond - tile > 1) {
    const middle = Math.floor((tile + beyond) / 2)
    if ((await startOf(middle)) > position) beyond = middle
    else tile = middle
  }
  // A read begins after an event, so it begins after the first one of the tile before.
  let index = tile === 0 ? 0 : (tile - 1) * tileWidth + 1
  for await (const { events } of log.pages(tile === 0 ? undefined : await startOf(tile - 1), 2 * tileWidth)) {
    for (const event of events) {
      if (event.position > position) return undefined
      if (event.position === position) return { index, record: recordOf(event) }
      index += 1
    }
  }
  return undefined
}
