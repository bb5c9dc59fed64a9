import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  AccessDeniedError,
  type AppendResult,
  BACKWARDS,
  DeadlineExceededError,
  END,
  EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  type RecordedEvent,
  START,
  StreamNotFoundError,
  streamNameFilter,
  UnavailableError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import type { DomainEvent } from '../domain/events.ts'
import type { EventMetadata, LogEntry } from '../domain/recorded.ts'
import { codec } from './codec.ts'
import { categoryOf, ownPrefixes } from './streams.ts'
import { LedgerUnavailable } from './unavailable.ts'
import { withinTime } from './within-time.ts'

/** The last revision that a decision was made on; `no_stream` when the stream did not exist. Never "any". */
export type ExpectedRevision = number | 'no_stream'

export type Cause = Omit<EventMetadata, 'schema'>

type AppendOutcome =
  | { appended: true; revision: number; position: bigint }
  /** Somebody else has appended since: nothing was written. */
  | { appended: false }

export type Page = {
  entries: LogEntry[]
  /** The position of the last event looked at, the ledger's own or not; undefined at the end of the log. */
  through: bigint | undefined
}

export type Ledger = {
  /** The first so many events of a stream, or all of them, oldest first; empty when there is no such stream. */
  readStream(stream: string, most?: number): AsyncIterable<LogEntry>
  /**
   * Writes all events or none. An append whose answer is lost is sent again with the same event ids at the same
   * place, which the store answers as if it were the first, so nothing is written twice.
   * @throws LedgerUnavailable when the store does not answer within the time limit
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly DomainEvent[],
    cause: Cause,
  ): Promise<AppendOutcome>
  /** The next part of the log after a position (exclusive; undefined is its start), in order. */
  readPage(after: bigint | undefined, limit: number): Promise<Page>
  /** Everything after a position, and then everything to come, until the signal aborts or the store fails. */
  subscribe(after: bigint | undefined, signal: AbortSignal): AsyncIterable<LogEntry>
  /** The position of the log's last event; undefined when it is empty. */
  head(): Promise<bigint | undefined>
  close(): Promise<void>
}

export type LedgerLimits = {
  /** How long one try of an append may take. The client's batch append has no deadline of its own. */
  appendTimeoutMs: number
  appendTries: number
}

const defaultLimits: LedgerLimits = { appendTimeoutMs: 2500, appendTries: 4 }

/**
 * Connects to an EventStoreDB. One a process: the client keeps its pending appends in a module-wide table, and
 * two clients can answer each other's.
 * @param url `esdb://host:port?tls=false`, or `esdb+discover://…` for a cluster
 */
export function connectLedger(url: string, limits: LedgerLimits = defaultLimits): Ledger {
  const client = EventStoreDBClient.connectionString(url)
  return {
    readStream: (stream, most = Number.POSITIVE_INFINITY) => readStream(client, stream, most),
    append: (stream, expected, events, cause) => append(client, limits, stream, expected, events, cause),
    readPage: (after, limit) => readPage(client, after, limit),
    subscribe: (after, signal) => subscribe(client, after, signal),
    async head() {
      const last = client.readAll({
        direction: BACKWARDS,
        fromPosition: END,
        maxCount: 1,
      })
      let head: bigint | undefined
      for await (const { event } of heard(last)) head = event?.position.commit
      return head
    },
    // The client waits for every stream to end, and one that somebody still reads does not.
    close: () => withinTime(client.dispose(), 1000).catch(() => undefined),
  }
}

const ownStreams = streamNameFilter({ prefixes: [...ownPrefixes] })

/**
 * A forward read of $all starts with the very event at its position, so one more is asked for and dropped. It
 * cannot be filtered by this client, so the events of others are passed over here.
 */
async function readPage(client: EventStoreDBClient, after: bigint | undefined, limit: number): Promise<Page> {
  const maxCount = limit + (after === undefined ? 0 : 1)
  const entries: LogEntry[] = []
  let through: bigint | undefined
  const read = client.readAll({ direction: FORWARDS, fromPosition: place(after), maxCount })
  for await (const { event } of heard(read)) {
    if (!event || event.position.commit === after) continue
    through = event.position.commit
    if (categoryOf(event.streamId) !== undefined) entries.push(decode(event, through))
  }
  return { entries, through }
}

async function* subscribe(
  client: EventStoreDBClient,
  after: bigint | undefined,
  signal: AbortSignal,
): AsyncIterable<LogEntry> {
  const subscription = client.subscribeToAll({ fromPosition: place(after), filter: ownStreams })
  const stop = () => {
    subscription.destroy()
    void subscription.unsubscribe().catch(() => undefined)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const { event } of heard(subscription)) {
      if (event) yield decode(event, event.position.commit)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** So many events of a stream are asked for at a time. */
const streamPage = 200

/**
 * Whoever leaves early leaves a page that has been read whole: a store ends the connection of whoever cancels too many
 * reads, with all that others ask for on it.
 */
async function* readStream(
  client: EventStoreDBClient,
  stream: string,
  most: number,
): AsyncIterable<LogEntry> {
  for (let from = 0; from < most; from += streamPage) {
    const maxCount = Math.min(streamPage, most - from)
    const events = await readStreamPage(client, stream, from, maxCount)
    for (const event of events) yield decode(event, event.position?.commit ?? -1n)
    if (events.length < maxCount) return
  }
}

async function readStreamPage(client: EventStoreDBClient, stream: string, from: number, maxCount: number) {
  const read = client.readStream(stream, { direction: FORWARDS, fromRevision: BigInt(from), maxCount })
  const events: RecordedEvent[] = []
  try {
    for await (const { event } of heard(read)) if (event) events.push(event)
  } catch (error) {
    if (!(error instanceof StreamNotFoundError)) throw error
  }
  return events
}

const place = (position: bigint | undefined) =>
  position === undefined ? START : { commit: position, prepare: position }

/**
 * What a stream of the client hands out. It may report a failure again after its reader has gone, which nobody
 * would hear.
 * @throws LedgerUnavailable when the store cannot be reached, or breaks off
 */
async function* heard<T>(stream: NodeJS.EventEmitter & AsyncIterable<T>): AsyncIterable<T> {
  stream.on('error', () => undefined)
  try {
    yield* stream
  } catch (error) {
    // A connection that is broken off on the way is told as an unknown error.
    if (
      error instanceof UnavailableError ||
      error instanceof DeadlineExceededError ||
      error instanceof UnknownError
    ) {
      throw new LedgerUnavailable('the event store does not answer', error)
    }
    throw error
  }
}

async function append(
  client: EventStoreDBClient,
  limits: LedgerLimits,
  stream: string,
  expected: ExpectedRevision,
  events: readonly DomainEvent[],
  cause: Cause,
): Promise<AppendOutcome> {
  const encoded = events.map(({ type, data }) =>
    jsonEvent({
      id: randomUUID(),
      type,
      data,
      metadata: bytesOf({ ...cause, schema: codec.schemaOf(type) }),
    }),
  )
  const expectedRevision = expected === 'no_stream' ? NO_STREAM : BigInt(expected)
  let failure: unknown
  for (let tries = 0; tries < limits.appendTries; tries++) {
    if (tries > 0) await setTimeout(100 * 2 ** tries)
    try {
      const sent = client.appendToStream(stream, encoded, { expectedRevision })
      const result: AppendResult = await withinTime(sent, limits.appendTimeoutMs)
      const revision = Number(result.nextExpectedRevision)
      const position = result.position?.commit ?? (await positionOf(client, stream, revision))
      return { appended: true, revision, position }
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return { appended: false }
      if (error instanceof MaxAppendSizeExceededError || error instanceof AccessDeniedError) throw error
      failure = error
    }
  }
  throw new LedgerUnavailable(`the event store did not take an append to ${stream}`, failure)
}

const encoder = new TextEncoder()

/** JSON as it goes over the wire: what the client is given as an object goes there and back through base64 first. */
const bytesOf = (value: object): Uint8Array => encoder.encode(JSON.stringify(value))

async function positionOf(client: EventStoreDBClient, stream: string, revision: number): Promise<bigint> {
  const [event] = await readStreamPage(client, stream, revision, 1)
  if (event?.position) return event.position.commit
  throw new LedgerUnavailable(`the event store gave no position for ${stream} at ${revision}`)
}

function decode(event: ReadEvent, position: bigint): LogEntry {
  const { id, streamId: stream, revision, type, data, metadata } = event
  return codec.decode({ id, stream, revision: Number(revision), position, type, data, metadata })
}

/** What of the client's recorded event is used, whatever its content type. */
type ReadEvent = {
  id: string
  streamId: string
  revision: bigint
  type: string
  data: unknown
  metadata: unknown
}
