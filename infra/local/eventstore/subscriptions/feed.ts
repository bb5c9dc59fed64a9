import { everything, isSoftDeleted, isTombstoned, visibleEvents } from '../engine/stream-metadata.ts'
import { noRevision } from '../storage/event.ts'
import { type EventLog, type Page, pageEvents } from '../storage/event-log.ts'
import type { ReadStart, ReadTarget } from '../streams/read-request.ts'
import { invalidStart, streamDeleted } from '../wire/errors.ts'

/** Returns the events after a cursor, a page at a time, for a subscription. */
export type Feed = {
  /** The position or revision of the last event returned, or of the start. */
  readonly cursor: number
  /** A live subscriber gets new events even if the stream's metadata hide them by the time they are read. */
  next(live: boolean): Page
}

export function openFeed(log: EventLog, target: ReadTarget): Feed {
  return target.kind === 'all' ? allFeed(log, target.from) : streamFeed(log, target.name, target.from)
}

function allFeed(log: EventLog, from: ReadStart): Feed {
  if (typeof from === 'number' && !log.isPosition(from)) throw invalidStart()
  // A checkpoint may send this before any event, so it must be the position of an event.
  let cursor = startAfter(from, log.allBackwards(log.nextPosition, 1).events.at(0)?.position ?? -1)
  return {
    get cursor() {
      return cursor
    },
    next: () => {
      const page = log.allForwards(cursor + 1, pageEvents)
      cursor = page.events.at(-1)?.position ?? cursor
      return page
    },
  }
}

function streamFeed(log: EventLog, name: string, from: ReadStart): Feed {
  let cursor = startAfter(from, log.stream(name)?.head ?? noRevision)
  return {
    get cursor() {
      return cursor
    },
    next: (live) => {
      const stream = log.stream(name)
      if (isTombstoned(log, name, stream)) throw streamDeleted(name)
      if (!stream || isSoftDeleted(stream)) return { events: [], atEnd: true }
      const visible = live ? everything : visibleEvents(stream, Date.now())
      const page = log.streamForwards(name, cursor + 1, pageEvents, visible)
      cursor = page.events.at(-1)?.revision ?? cursor
      return page
    },
  }
}

/** The cursor for a start: subscriptions exclude the event that they start at. */
function startAfter(from: ReadStart, end: number): number {
  if (from === 'start') return -1
  return from === 'end' ? end : from
}
