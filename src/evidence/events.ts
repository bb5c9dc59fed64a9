import type { LogEntry } from '../domain/recorded.ts'
import type { Ledger } from '../ledger/ledger.ts'
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
 */
export function lineOf(entry: LogEntry): object {
  const { stream, revision, position } = entry
  const place = { stream, revision, position: String(position) }
  if (!entry.readable) return { ...place, type: entry.type, unreadable: entry.problem }
  const { id, event, metadata } = entry
  return { ...place, id, type: event.type, metadata, data: withoutKeyHash(event.data) }
}

/** The same event as it was recorded, which a verifier compares with its record. */
export const lineOfRecord = (
  { position }: LogEntry,
  { stream, revision, id, type, data, metadata }: EventRecord,
): object => ({
  stream,
  revision,
  position: String(position),
  id,
  type,
  metadata,
  data: withoutKeyHash(data),
})

function withoutKeyHash(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data
  const { keyHash: _, ...rest } = { keyHash: undefined, ...data }
  return rest
}
