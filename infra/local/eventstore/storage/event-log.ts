import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { bytes, integer, type Row, text } from './columns.ts'
import {
  noRevision,
  type ProposedEvent,
  type RecordedEvent,
  type Retention,
  type StreamState,
} from './event.ts'
import { StreamTable } from './stream-table.ts'

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
export class EventLog {
  readonly #insert: StatementSync
  readonly #allForwards: StatementSync
  readonly #allBackwards: StatementSync
  readonly #streamForwards: StatementSync
  readonly #streamBackwards: StatementSync
  readonly #last: StatementSync
  readonly #streams: StreamTable
  #nextPosition = 0

  constructor(database: DatabaseSync) {
    this.#streams = new StreamTable(database)
    this.#insert = database.prepare(`
      insert into events (position, stream_id, revision, id, type, is_json, created_ms, metadata, data)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#allForwards = database.prepare(`${selectEvents} where e.position >= ? order by e.position limit ?`)
    this.#allBackwards = database.prepare(
      `${selectEvents} where e.position < ? order by e.position desc limit ?`,
    )
    this.#streamForwards = database.prepare(`${selectEvents}
      where e.stream_id = (select stream_id from streams where name = ?)
        and e.revision >= ? and e.created_ms >= ?
      order by e.revision limit ?`)
    this.#streamBackwards = database.prepare(`${selectEvents}
      where e.stream_id = (select stream_id from streams where name = ?)
        and e.revision <= ? and e.revision >= ? and e.created_ms >= ?
      order by e.revision desc limit ?`)
    this.#last = database.prepare(`${selectEvents} order by e.position desc limit 1`)
    this.recover()
  }

  /** The position of the next event. All events are before it. */
  get nextPosition(): number {
    return this.#nextPosition
  }

  /**
   * Whether $all can be read from this position: 0, an event's position, or at or after the end. EventStoreDB
   * rejects other numbers, since positions are offsets in its files.
   */
  isPosition(position: number): boolean {
    if (position === 0 || position >= this.#nextPosition) return true
    return this.#allForwards.get(position, 1)?.position === position
  }

  /** Reads the end of the log from disk: at the start, and after a rollback. */
  recover(): void {
    const row = this.#last.get()
    const last = row && toEvent(row)
    this.#nextPosition = last ? last.position + recordSize(last.stream, last) : 0
  }

  stream(name: string): StreamState | undefined {
    return this.#streams.find(name)
  }

  setRetention(name: string, retention: Retention): void {
    this.#streams.setRetention(name, retention)
  }

  /**
   * Writes events at consecutive revisions, inside the caller's transaction.
   * @returns the position of the last one
   */
  insert(stream: string, firstRevision: number, events: readonly ProposedEvent[], createdMs: number): number {
    const streamId = this.#streams.setHead(stream, firstRevision + events.length - 1)
    let position = this.#nextPosition
    for (const [index, event] of events.entries()) {
      position = this.#nextPosition
      this.#insert.run(
        position,
        streamId,
        firstRevision + index,
        event.id,
        event.type,
        event.isJson ? 1 : 0,
        createdMs,
        event.metadata,
        event.data,
      )
      this.#nextPosition = position + recordSize(stream, event)
    }
    return position
  }

  eventAt(stream: string, revision: number): RecordedEvent | undefined {
    const row = this.#streamBackwards.get(stream, revision, revision, 0, 1)
    return row && toEvent(row)
  }

  lastEvent(stream: string): RecordedEvent | undefined {
    const head = this.stream(stream)?.head ?? noRevision
    return head === noRevision ? undefined : this.eventAt(stream, head)
  }

  /** Events at and after a position. */
  allForwards(from: number, limit: number): Page {
    const count = pageLimit(limit)
    return toPage(this.#allForwards.all(from, count), count)
  }

  /** Events before a position, newest first. */
  allBackwards(before: number, limit: number): Page {
    const count = pageLimit(limit)
    return toPage(this.#allBackwards.all(before, count), count)
  }

  streamForwards(stream: string, from: number, limit: number, visible: Visible): Page {
    const count = pageLimit(limit)
    const first = Math.max(from, visible.fromRevision)
    return toPage(this.#streamForwards.all(stream, first, visible.fromCreatedMs, count), count)
  }

  streamBackwards(stream: string, from: number, limit: number, visible: Visible): Page {
    const count = pageLimit(limit)
    const { fromRevision, fromCreatedMs } = visible
    return toPage(this.#streamBackwards.all(stream, from, fromRevision, fromCreatedMs, count), count)
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
