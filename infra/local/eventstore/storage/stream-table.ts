import type { DatabaseSync } from 'node:sqlite'
import { integer, optionalInteger, type Row, text } from './columns.ts'
import { noRevision, type Retention, type StreamState } from './event.ts'

/** One row per stream: its last revision, and its retention settings. */
export type StreamTable = {
  find(name: string): StreamState | undefined
  /** Sets a stream's last revision. @returns the number of the stream */
  setHead(name: string, head: number): number
  /** Sets a stream's retention; the stream may have no events yet. */
  setRetention(name: string, retention: Retention): void
}

export function createStreamTable(database: DatabaseSync): StreamTable {
  const find = database.prepare(`
    select name, head, truncate_before, max_count, max_age_seconds from streams where name = ?`)
  const setHead = database.prepare(`
    insert into streams (name, head, truncate_before) values (?, ?, 0)
    on conflict (name) do update set head = excluded.head
    returning stream_id`)
  const setRetention = database.prepare(`
    insert into streams (name, head, truncate_before, max_count, max_age_seconds)
    values (?, ${noRevision}, ?, ?, ?)
    on conflict (name) do update set truncate_before = excluded.truncate_before,
      max_count = excluded.max_count, max_age_seconds = excluded.max_age_seconds`)

  return {
    find(name) {
      const row = find.get(name)
      return row && { name: text(row, 'name'), head: integer(row, 'head'), retention: toRetention(row) }
    },
    setHead(name, head) {
      const row = setHead.get(name, head)
      if (!row) throw new Error(`no row for stream ${name}`)
      return integer(row, 'stream_id')
    },
    setRetention(name, { truncateBefore, maxCount, maxAgeSeconds }) {
      setRetention.run(name, truncateBefore, maxCount ?? null, maxAgeSeconds ?? null)
    },
  }
}

function toRetention(row: Row): Retention {
  const maxCount = optionalInteger(row, 'max_count')
  const maxAgeSeconds = optionalInteger(row, 'max_age_seconds')
  return {
    truncateBefore: integer(row, 'truncate_before'),
    ...(maxCount !== undefined && { maxCount }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  }
}
