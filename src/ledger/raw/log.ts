import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { categoryOf } from '../../domain/streams.ts'
import { type Connection, createConnection } from '../connection/connection.ts'
import type { NodeClient } from '../connection/node-client.ts'
import { openRawAppends, type RawAppends } from './appends.ts'
import type { RawEvent } from './event.ts'

/** A page of the log: the ledger's own events, and the position where the page ends. */
type RawPage = {
  events: RawEvent[]
  /**
   * The position of the last event that was read, including other applications' events; the next page begins
   * after it.
   */
  through: bigint
}

/** Reads and writes a log as bytes, for copies and backups. A process may open several, besides its ledger. */
export type RawLog = {
  /**
   * The ledger's own events after a position (exclusive; undefined is the start), in log order, up to the end
   * of the log. The next page is fetched while the current one is processed.
   * @param eventsPerPage 500 when absent
   * @throws LedgerUnavailable when the store does not answer after several attempts
   */
  pages(after: bigint | undefined, eventsPerPage?: number): AsyncIterable<RawPage>
  /** The position of the log's last event of any kind; undefined when it is empty. @throws LedgerUnavailable */
  head(): Promise<bigint | undefined>
  /** @throws LedgerUnavailable */
  openAppends(): Promise<RawAppends>
  close(): Promise<void>
}

/** The part of a log that a copy reads; a file may provide it, too. */
export type LogSource = Pick<RawLog, 'pages' | 'head'>

const defaultEventsPerPage = 500
/** Time limit of a page, with all attempts. */
const readTimeoutMs = 30_000
/** Time limit of one attempt. */
const attemptTimeoutMs = 10_000

/** @param url as `parseAddress` takes it */
export function openRawLog(url: string): RawLog {
  const connection = createConnection(url)
  return {
    pages: (after, eventsPerPage = defaultEventsPerPage) => pages(connection, after, eventsPerPage),
    async head() {
      const [last] = await read(connection, requestOf('backwards', undefined, 1))
      return last?.position
    },
    openAppends: () => openRawAppends(connection),
    close() {
      connection.close()
      return Promise.resolve()
    },
  }
}

async function* pages(
  connection: Connection,
  after: bigint | undefined,
  eventsPerPage: number,
): AsyncIterable<RawPage> {
  let next = readAfter(connection, after, eventsPerPage)
  for (;;) {
    const events = await next
    const through = events.at(-1)?.position
    if (through === undefined) return
    next = readAfter(connection, through, eventsPerPage)
    // Avoids an unhandled rejection when the caller stops before it reads the next page.
    next.catch(() => undefined)
    yield { events: events.filter(({ stream }) => categoryOf(stream) !== undefined), through }
  }
}

/** A forward read begins with the event at the given position, so that event is dropped. */
async function readAfter(
  connection: Connection,
  after: bigint | undefined,
  eventsPerPage: number,
): Promise<RawEvent[]> {
  const events = await read(connection, requestOf('forwards', after, eventsPerPage))
  return events[0]?.position === after ? events.slice(1) : events
}

const read = (connection: Connection, request: streams.ReadReq): Promise<RawEvent[]> =>
  connection.call('the log cannot be read', readTimeoutMs, ({ client }, leftMs) =>
    readOnce(client, request, Math.min(leftMs, attemptTimeoutMs)),
  )

async function readOnce(client: NodeClient, request: streams.ReadReq, limitMs: number): Promise<RawEvent[]> {
  const events: RawEvent[] = []
  // Reads from the leader of a cluster, because a follower may lack the newest events.
  const options = { requiresLeader: true, deadline: limitMs }
  const answers: AsyncIterable<streams.ReadResp> = await client.readBytes(request, options)
  for await (const answer of answers) {
    const event = answer.getEvent()?.getEvent()
    if (event) events.push(rawEventOf(event))
  }
  return events
}

function rawEventOf(event: streams.ReadResp.ReadEvent.RecordedEvent): RawEvent {
  const properties = event.getMetadataMap()
  return {
    id: event.getId()?.getString() ?? '',
    stream: Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: Number(event.getStreamRevision()),
    position: BigInt(event.getCommitPosition()),
    type: properties.get('type') ?? '',
    isJson: properties.get('content-type') === 'application/json',
    data: event.getData_asU8(),
    metadata: event.getCustomMetadata_asU8(),
  }
}

function requestOf(
  direction: 'forwards' | 'backwards',
  from: bigint | undefined,
  count: number,
): streams.ReadReq {
  const all = new streams.ReadReq.Options.AllOptions()
  if (from !== undefined) {
    const position = new streams.ReadReq.Options.Position()
    position.setCommitPosition(String(from))
    position.setPreparePosition(String(from))
    all.setPosition(position)
  } else if (direction === 'forwards') all.setStart(new shared.Empty())
  else all.setEnd(new shared.Empty())
  const ids = new streams.ReadReq.Options.UUIDOption()
  ids.setString(new shared.Empty())
  const options = new streams.ReadReq.Options()
  options.setAll(all)
  options.setReadDirection(direction === 'forwards' ? 0 : 1)
  options.setResolveLinks(false)
  options.setCount(String(count))
  options.setUuidOption(ids)
  options.setNoFilter(new shared.Empty())
  const request = new streams.ReadReq()
  request.setOptions(options)
  return request
}
