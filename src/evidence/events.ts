import type { LogEntry } from '../domain/recorded.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Withheld } from '../notary/withheld.ts'
import { openPart } from '../transparency/entry.ts'
import type { EventRecord } from '../transparency/record.ts'

type Reader = Pick<Ledger, 'readStream'>

/** How many short streams are read concurrently. */
const atOnce = 16

/** The events of a stream up to a revision. */
export async function* eventsIn(
  ledger: Reader,
  stream: string,
  through: number = Number.POSITIVE_INFINITY,
): AsyncIterable<LogEntry> {
  for await (const entry of ledger.readStream(stream)) {
    if (entry.revision > through) return
    yield entry
  }
}

/** The events of several short streams, one stream after the other. */
export async function* eventsInAll(
  ledger: Reader,
  streams: AsyncIterable<string> | Iterable<string>,
): AsyncIterable<LogEntry> {
  let waiting: string[] = []
  for await (const stream of streams) {
    waiting.push(stream)
    if (waiting.length < atOnce) continue
    yield* await readAll(ledger, waiting)
    waiting = []
  }
  yield* await readAll(ledger, waiting)
}

async function readAll(ledger: Reader, streams: readonly string[]): Promise<LogEntry[]> {
  return (await Promise.all(streams.map((stream) => readWhole(ledger, stream)))).flat()
}

async function readWhole(ledger: Reader, stream: string): Promise<LogEntry[]> {
  const events: LogEntry[] = []
  for await (const event of eventsIn(ledger, stream)) events.push(event)
  return events
}

/**
 * An event with its position and metadata. Personal data stays sealed. The hash of the license's key is left
 * out: a short imported key could be guessed from it.
 * @param withheld for a whole event, its id and its cause are left out too: with them, the hash could be tested against the
 *   public tree, as it could with the salt
 */
export function lineOf(entry: LogEntry, withheld: Withheld): object {
  const { stream, revision, position } = entry
  const place = { stream, revision, position: String(position) }
  if (!entry.readable) return { ...place, type: entry.type, unreadable: entry.problem }
  const { id, event } = entry
  const { salt: _, ...metadata } = entry.metadata
  const data = withoutKeyHash(event.data)
  if (withheld !== 'event') return { ...place, id, type: event.type, metadata, data }
  return { ...place, type: event.type, metadata: withoutCause(metadata), data }
}

/**
 * The same event as it was recorded, which a verifier compares with its record.
 * @param withheld which part of the record the archive leaves out
 */
export function lineOfRecord({ position }: LogEntry, record: EventRecord, withheld: Withheld): object {
  const { stream, revision, id, type, data, metadata } = withheld === 'key' ? openPart(record) : record
  const place = { stream, revision, position: String(position) }
  if (withheld !== 'event') return { ...place, id, type, metadata, data: withoutKeyHash(data) }
  // With its id, the withheld hash of a short key could be guessed from the leaf.
  return { ...place, type, metadata: withoutCause(metadata), data: withoutKeyHash(data) }
}

function withoutCause(metadata: unknown): unknown {
  if (typeof metadata !== 'object' || metadata === null) return metadata
  const { causationId: _, salt: __, ...rest } = { causationId: undefined, salt: undefined, ...metadata }
  return rest
}

function withoutKeyHash(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data
  const { keyHash: _, ...rest } = { keyHash: undefined, ...data }
  return rest
}
