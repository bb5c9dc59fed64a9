import type { DatabaseSync } from 'node:sqlite'
import { bytes, integer, type Row, text } from './columns.ts'
import {
  noRevision,
  type ProposedEvent,
  type RecordedEvent,
  type Retention,
  type StreamState,
} from './event.ts'
import { createStreamTable } from './stream-table.ts'

/** A page of the log. `atEnd`: there was nothing after it at the time of the read. */
export type Page = {
  events: RecordedEvent[]
  atEnd: boolean
}

/** The visible events of a stream. */
export type Visible = {
  /** The lowest visible revision. */
  fromRevision: number
  /** The earliest visible creation time. */
  fromCreatedMs: number
}

/** Small enough that a page of the largest possible events fits into memory. */
export const pageEvents = 128

const selectEvents = `
  select e.position, s.name, e.revision, e.id, e.type, e.is_json, e.created_ms, e.metadata, e.data
  from events e join streams s using (stream_id)`

/**
 * The tables of events and streams, with prepared statements. All calls are synchronous, so a page is
 * consistent, and nothing changes between a check and its write.
 */
export type EventLog = EventPages & {
  /** The position of the next event. All events are before it. */
  readonly nextPosition: number
  /**
   * Whether $all can be read from this position: 0, an event's position, or at or after the end. EventStoreDB
   * rejects other numbers, since positions are offsets in its files.
   */
  isPosition(position: number): boolean
  /** Reads the end of the log from disk: at the start, and after a rollback. */
  recover(): void
  stream(name: string): StreamState | undefined
  setRetention(name: string, retention: Retention): void
  /**
   * Writes events at consecutive revisions, inside the caller's transaction.
   * @returns the position of the last one
   */
  insert(stream: string, firstRevision: number, events: readonly ProposedEvent[], createdMs: number): number
  lastEvent(stream: string): RecordedEvent | undefined
}

type EventPages = {
  /** Events at and after a position. */
  allForwards(from: number, limit: number): Page
  /** Events before a position, newest first. */
  allBackwards(before: number, limit: number): Page
  streamForwards(stream: string, from: number, limit: number, visible: Visible): Page
  streamBackwards(stream: string, from: number, limit: number, visible: Visible): Page
  eventAt(stream: string, revision: number): RecordedEvent | undefined
}

export function createEventLog(database: DatabaseSync): EventLog {
  const { find, setHead, setRetention } = createStreamTable(database)
  const pages = createPages(database)
  const insert = database.prepare(`
    insert into events (position, stream_id, revision, id, type, is_json, created_ms, metadata, data)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const last = database.prepare(`${selectEvents} order by e.position desc limit 1`)
  let nextPosition = 0

  function recover(): void {
    const row = last.get()
    const event = row && toEvent(row)
    nextPosition = event ? event.position + recordSize(event.stream, event) : 0
  }

  recover()
  return {
    ...pages,
    stream: find,
    setRetention,
    recover,
    get nextPosition() {
      return nextPosition
    },
    isPosition(position) {
      if (position === 0 || position >= nextPosition) return true
      return pages.allForwards(position, 1).events[0]?.position === position
    },
    insert(stream, firstRevision, events, createdMs) {
      const streamId = setHead(stream, firstRevision + events.length - 1)
      let position = nextPosition
      for (const [index, event] of events.entries()) {
        const { id, type, isJson, metadata, data } = event
        position = nextPosition
        insert.run(
          position,
          streamId,
          firstRevision + index,
          id,
          type,
          isJson ? 1 : 0,
          createdMs,
          metadata,
          data,
        )
        nextPosition = position + recordSize(stream, event)
      }
      return position
    },
    lastEvent(name) {
      const head = find(name)?.head ?? noRevision
      return head === noRevision ? undefined : pages.eventAt(name, head)
    },
  }
}

function createPages(database: DatabaseSync): EventPages {
  const allForwards = database.prepare(`${selectEvents} where e.position >= ? order by e.position limit ?`)
  const allBackwards = database.prepare(
    `${selectEvents} where e.position < ? order by e.position desc limit ?`,
  )
  const streamForwards = database.prepare(`${selectEvents}
    where e.stream_id = (select stream_id from streams where name = ?)
      and e.revision >= ? and e.created_ms >= ?
    order by e.revision limit ?`)
  const streamBackwards = database.prepare(`${selectEvents}
    where e.stream_id = (select stream_id from streams where name = ?)
      and e.revision <= ? and e.revision >= ? and e.created_ms >= ?
    order by e.revision desc limit ?`)

  return {
    allForwards(from, limit) {
      const count = pageLimit(limit)
      return toPage(allForwards.all(from, count), count)
    },
    allBackwards(before, limit) {
      const count = pageLimit(limit)
      return toPage(allBackwards.all(before, count), count)
    },
    streamForwards(stream, from, limit, { fromRevision, fromCreatedMs }) {
      const count = pageLimit(limit)
      return toPage(streamForwards.all(stream, Math.max(from, fromRevision), fromCreatedMs, count), count)
    },
    streamBackwards(stream, from, limit, { fromRevision, fromCreatedMs }) {
      const count = pageLimit(limit)
      return toPage(streamBackwards.all(stream, from, fromRevision, fromCreatedMs, count), count)
    },
    eventAt(stream, revision) {
      const row = streamBackwards.get(stream, revision, revision, 0, 1)
      return row && toEvent(row)
    },
  }
}

function pageLimit(limit: number): number {
  return Math.min(limit, pageEvents)
}

function toPage(rows: readonly Row[], limit: number): Page {
  return { events: rows.map(toEvent), atEnd: rows.length < limit }
}

function toEvent(row: Row): RecordedEvent {
  return {
    position: integer(row, 'position'),
    stream: text(row, 'name'),
    revision: integer(row, 'revision'),
    id: text(row, 'id'),
    type: text(row, 'type'),
    isJson: integer(row, 'is_json') === 1,
    createdMs: integer(row, 'created_ms'),
    metadata: bytes(row, 'metadata'),
    data: bytes(row, 'data'),
  }
}

/** Positions grow like byte offsets, as in EventStoreDB, so that code that adds one fails. */
function recordSize(stream: string, event: ProposedEvent): number {
  return 64 + stream.length + event.type.length + event.metadata.length + event.data.length
}
