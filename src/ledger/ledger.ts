import { randomBytes, randomUUID } from 'node:crypto'
import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  FORWARDS,
  type ReadAllOptions,
  type RecordedEvent,
  type ResolvedEvent,
  START,
  type StreamingRead,
  streamNameFilter,
} from '@eventstore/db-client'
import type { DomainEvent } from '../domain/events.ts'
import type { EventMetadata, LogEntry } from '../domain/recorded.ts'
import { categoryOf, identityStream, ownPrefixes } from '../domain/streams.ts'
import { codec } from './codec.ts'
import { type Connection, createConnection } from './connection/connection.ts'
import { classifyError, isInvalidPosition } from './connection/errors.ts'
import type { NodeClient } from './connection/node-client.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'
import { createLogGuard, type LogGuard } from './log-guard.ts'
import { collect, subscribed } from './reads.ts'

/**
 * The revision that the decision was based on; `no_stream` when the stream did not exist. "Any" is never sent.
 */
export type ExpectedRevision = number | 'no_stream'

export type Cause = Omit<EventMetadata, 'salt' | 'schema'>

type AppendOutcome =
  | { appended: true; revision: number; position: bigint }
  /** Another process has appended since; nothing was written. */
  | { appended: false }

export type Page = {
  entries: LogEntry[]
  /**
   * The position of the last event that was read, including other applications' events; undefined at the end of
   * the log.
   */
  through: bigint | undefined
}

export type Ledger = {
  /**
   * The first `most` events of a stream, or all of them, oldest first; empty when the stream does not exist.
   */
  readStream(stream: string, most?: number): AsyncIterable<LogEntry>
  /**
   * The events of a stream from a revision on, oldest first; empty when there are none yet.
   */
  readStreamFrom(stream: string, revision: number): AsyncIterable<LogEntry>
  /**
   * Appends all events or none. If the answer is lost, the append is sent again with the same event ids and
   * revision. The store treats it as the first one, so nothing is written twice.
   * @throws LedgerUnavailable when the store does not answer within the time limit
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly DomainEvent[],
    cause: Cause,
  ): Promise<AppendOutcome>
  /** The next page of the log after a position (exclusive; undefined is the start), in order. */
  readPage(after: bigint | undefined, limit: number): Promise<Page>
  /** Every entry after a position, then new ones, until the signal aborts or the store fails. */
  subscribe(after: bigint | undefined, signal: AbortSignal): AsyncIterable<LogEntry>
  /** The position of the log's last event; undefined when it is empty. */
  head(): Promise<bigint | undefined>
  /** The id of the log, undefined when it has none. Bypasses the guard, as all methods below do. */
  identity(): Promise<string | undefined>
  /** Yields once when a connection is established, and ends or fails with it. */
  followIdentity(signal: AbortSignal): AsyncIterable<unknown>
  /** The event at a revision of a stream; undefined when there is none. */
  eventOf(stream: string, revision: number): Promise<LoggedEvent | undefined>
  /** The event at exactly this position, in any stream; undefined when there is none. */
  eventAt(position: bigint): Promise<LoggedEvent | undefined>
  /** The last event of the log, in any stream; undefined when the log is empty. */
  lastEvent(): Promise<LoggedEvent | undefined>
  close(): Promise<void>
}

/** An event's position in the log, its id, and its time by the store's clock. */
export type LoggedEvent = { position: bigint; id: string; created: Date }

export type LedgerLimits = {
  /** The time limit of one attempt; for a read, the time until each next event. */
  tryMs: number
  /** The time limit of a call with all its attempts. */
  callMs: number
}

/** Well below the time limit of an HTTP request, so that the caller still gets an error with the cause. */
const defaultLimits: LedgerLimits = { tryMs: 2500, callMs: 7000 }

/**
 * Connects to an EventStoreDB, and reconnects when it becomes unreachable.
 * @param url as `parseAddress` takes it
 * @param guard must be open before each attempt to read or write the log
 */
export function connectLedger(
  url: string,
  limits: LedgerLimits = defaultLimits,
  guard: LogGuard = createLogGuard(),
): Ledger {
  const connection = createConnection(url)
  const store = { connection, limits, guard }
  const unguarded = { connection, limits, guard: createLogGuard() }
  return {
    readStream: (stream, most = Number.POSITIVE_INFINITY) => readStream(store, stream, 0, most),
    readStreamFrom: (stream, revision) => readStream(store, stream, revision, Number.POSITIVE_INFINITY),
    append: (stream, expected, events, cause) => append(store, stream, expected, events, cause),
    readPage: (after, limit) => readPage(store, after, limit),
    subscribe: (after, signal) => subscribe(store, after, signal),
    async head() {
      const last = await readEvents(unguarded, 'the end of the log cannot be read', (client) =>
        client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
      )
      return last[0]?.event?.position.commit
    },
    identity: () => readIdentity(unguarded),
    followIdentity: (signal) => followIdentity(unguarded, signal),
    eventOf: (stream, revision) => eventOf(unguarded, stream, revision),
    eventAt: (position) => eventAt(unguarded, position),
    lastEvent: () => readOneEvent(unguarded, { direction: BACKWARDS, fromPosition: END }),
    close() {
      connection.close()
      return Promise.resolve()
    },
  }
}

type Store = { connection: Connection; limits: LedgerLimits; guard: LogGuard }

const ownStreams = streamNameFilter({ prefixes: [...ownPrefixes] })

/**
 * A forward read of $all starts with the event at the given position, so one more event is read and the first
 * is dropped. The client cannot filter such a read, so other applications' events are skipped here.
 */
async function readPage(store: Store, after: bigint | undefined, limit: number): Promise<Page> {
  const maxCount = limit + (after === undefined ? 0 : 1)
  const entries: LogEntry[] = []
  let through: bigint | undefined
  const read = await readEvents(store, 'the log cannot be read', (client) =>
    client.readAll({ direction: FORWARDS, fromPosition: startingAt(after), maxCount }),
  )
  for (const { event } of read) {
    if (!event || event.position.commit === after) continue
    through = event.position.commit
    if (categoryOf(event.streamId) !== undefined) entries.push(decode(event, through))
  }
  return { entries, through }
}

async function* subscribe(
  { connection, limits, guard }: Store,
  after: bigint | undefined,
  signal: AbortSignal,
): AsyncIterable<LogEntry> {
  if (!guard.isOpen()) await guard.passed()
  const begin = (client: NodeClient) =>
    client.subscribeToAll({ fromPosition: startingAt(after), filter: ownStreams })
  for await (const { event } of subscribed(connection, begin, signal, limits.callMs)) {
    if (event) yield decode(event, event.position.commit)
  }
}

/** Events of a stream per request. */
const streamPage = 200

/**
 * Reads whole pages, also for a caller that stops early: the store closes a connection that cancels too many
 * reads, together with all other calls on it.
 */
async function* readStream(
  store: Store,
  stream: string,
  first: number,
  most: number,
): AsyncIterable<LogEntry> {
  for (let from = first; from < first + most; from += streamPage) {
    const maxCount = Math.min(streamPage, first + most - from)
    const events = await readStreamPage(store, stream, from, maxCount)
    for (const event of events) yield decode(event, event.position?.commit ?? -1n)
    if (events.length < maxCount) return
  }
}

async function readStreamPage(
  store: Store,
  stream: string,
  from: number,
  maxCount: number,
): Promise<RecordedEvent[]> {
  try {
    const read = await readEvents(store, `${stream} cannot be read`, (client) =>
      client.readStream(stream, { direction: FORWARDS, fromRevision: BigInt(from), maxCount }),
    )
    return read.flatMap(({ event }) => event ?? [])
  } catch (error) {
    if (classifyError(error).kind === 'no_stream') return []
    throw error
  }
}

const readEvents = <E extends ResolvedEvent | AllStreamResolvedEvent>(
  { connection, limits, guard }: Store,
  what: string,
  begin: (client: NodeClient) => StreamingRead<E>,
): Promise<E[]> =>
  connection.call(what, limits.callMs, async (node, leftMs) => {
    if (!guard.isOpen()) await guard.passed()
    return collect(begin(node.client), node, Math.min(leftMs, limits.tryMs))
  })

async function readIdentity(store: Store): Promise<string | undefined> {
  const [event] = await readStreamPage(store, identityStream, 0, 1)
  if (event === undefined) return undefined
  const entry = decode(event, event.position?.commit ?? -1n)
  if (entry.readable && entry.category === 'ledger') return entry.event.data.ledgerId
  throw new LedgerUnavailable(`${identityStream} cannot be read`)
}

function followIdentity({ connection, limits }: Store, signal: AbortSignal): AsyncIterable<unknown> {
  const begin = (client: NodeClient) => client.subscribeToStream(identityStream, { fromRevision: START })
  return subscribed(connection, begin, signal, limits.callMs)
}

async function eventOf(store: Store, stream: string, revision: number): Promise<LoggedEvent | undefined> {
  const [event] = await readStreamPage(store, stream, revision, 1)
  // Where a revision is missing, the store answers with the next one.
  if (event?.revision !== BigInt(revision)) return undefined
  return event.position && { position: event.position.commit, id: event.id, created: new Date(event.created) }
}

async function eventAt(store: Store, position: bigint): Promise<LoggedEvent | undefined> {
  try {
    const found = await readOneEvent(store, { direction: FORWARDS, fromPosition: startingAt(position) })
    return found?.position === position ? found : undefined
  } catch (error) {
    if (isInvalidPosition(error)) return undefined
    throw error
  }
}

/** Reads from the leader, because a follower may lack an event that was acknowledged a moment ago. */
async function readOneEvent(store: Store, from: ReadAllOptions): Promise<LoggedEvent | undefined> {
  const [found] = await readEvents(store, 'the log cannot be read', (client) =>
    client.readAll({ ...from, maxCount: 1, requiresLeader: true }),
  )
  return (
    found?.event && {
      position: found.event.position.commit,
      id: found.event.id,
      created: new Date(found.event.created),
    }
  )
}

const startingAt = (position: bigint | undefined) =>
  position === undefined ? START : { commit: position, prepare: position }

async function append(
  store: Store,
  stream: string,
  expected: ExpectedRevision,
  events: readonly DomainEvent[],
  cause: Cause,
): Promise<AppendOutcome> {
  const { connection, limits, guard } = store
  const encoded = events.map(({ type, data }) => ({
    id: randomUUID(),
    type,
    isJson: true,
    data: bytesOf(data),
    metadata: bytesOf({
      ...cause,
      schema: codec.schemaOf(type),
      salt: randomBytes(saltBytes).toString('hex'),
    }),
  }))
  const last = expected === 'no_stream' ? undefined : expected
  const what = `the event store rejected an append to ${stream}`
  try {
    const { revision, position } = await connection.call(what, limits.callMs, async ({ client }, leftMs) => {
      // Checked before each attempt: since the one before, the store may have been replaced by another log.
      if (!guard.isOpen()) await guard.passed()
      return client.appends.append(stream, last, encoded, Math.min(leftMs, limits.tryMs))
    })
    return { appended: true, revision, position: position ?? (await positionOf(store, stream, revision)) }
  } catch (error) {
    if (classifyError(error).kind === 'wrong_revision') return { appended: false }
    throw error
  }
}

const saltBytes = 16

const encoder = new TextEncoder()

/** Encodes JSON for the store. */
const bytesOf = (value: object): Uint8Array => encoder.encode(JSON.stringify(value))

async function positionOf(store: Store, stream: string, revision: number): Promise<bigint> {
  const [event] = await readStreamPage(store, stream, revision, 1)
  if (event?.position) return event.position.commit
  throw new LedgerUnavailable(`the event store returned no position for ${stream} at ${revision}`)
}

function decode(event: ReadEvent, position: bigint): LogEntry {
  const { id, streamId: stream, revision, type, data, metadata } = event
  return codec.decode({ id, stream, revision: Number(revision), position, type, data, metadata })
}

/** The fields of the client's recorded event that are used, for any content type. */
type ReadEvent = {
  id: string
  streamId: string
  revision: bigint
  type: string
  data: unknown
  metadata: unknown
}
