import { isSoftDeleted, isTombstoned, visibleEvents } from '../engine/stream-metadata.ts'
import { deletedRevision, noRevision, type RecordedEvent } from '../storage/event.ts'
import type { EventLog, Page } from '../storage/event-log.ts'
import { invalidPosition, streamDeleted } from '../wire/errors.ts'
import type { ReadRequest, ReadStart } from './read-request.ts'

/**
 * The pages of a read. Each is read after the previous one was sent, so a slow reader holds only one page in
 * memory.
 */
export type Pages = Iterable<readonly RecordedEvent[]>

/** Pages of `$all`. Forward reads include the event at the position, backward reads start before it. */
export function allPages(log: EventLog, { target, backwards, pageEvents }: PagedRead): Pages {
  if (typeof target.from === 'number' && !log.isPosition(target.from)) throw invalidPosition()
  const from = startIn(target.from, log.nextPosition)
  return backwards
    ? pages(
        from,
        (cursor) => log.allBackwards(cursor, pageEvents),
        (last) => last.position,
      )
    : pages(
        from,
        (cursor) => log.allForwards(cursor, pageEvents),
        (last) => last.position + 1,
      )
}

/**
 * Pages of a stream. Reads in both directions include the given revision. `undefined` when the stream does not
 * exist or was soft-deleted.
 */
export function streamPages(
  log: EventLog,
  name: string,
  { target, backwards, pageEvents }: PagedRead,
): Pages | undefined {
  const stream = log.stream(name)
  if (isTombstoned(log, name, stream)) throw streamDeleted(name)
  if (!stream || stream.head === noRevision || isSoftDeleted(stream)) return undefined

  const visible = visibleEvents(stream, Date.now())
  if (backwards) {
    const read = (cursor: number): Page => log.streamBackwards(name, cursor, pageEvents, visible)
    return pages(startIn(target.from, stream.head), read, (last) => last.revision - 1)
  }
  const read = (cursor: number): Page => log.streamForwards(name, cursor, pageEvents, visible)
  return pages(startIn(target.from, deletedRevision), read, (last) => last.revision + 1)
}

export type PagedRead = Pick<ReadRequest, 'target' | 'backwards'> & { pageEvents: number }

function* pages(from: number, read: (cursor: number) => Page, after: (last: RecordedEvent) => number): Pages {
  let cursor = from
  for (;;) {
    const page = read(cursor)
    yield page.events
    const last = page.events.at(-1)
    if (page.atEnd || !last) return
    cursor = after(last)
  }
}

function startIn(from: ReadStart, end: number): number {
  if (from === 'start') return 0
  return from === 'end' ? end : from
}
