import { DatabaseSync } from 'node:sqlite'
import type { RecordedEvent } from '../../../infra/local/eventstore/storage/event.ts'
import { createEventLog } from '../../../infra/local/eventstore/storage/event-log.ts'
import { categoryOf } from '../../../src/domain/streams.ts'
import type { LoggedEvent } from '../../../src/ledger/ledger.ts'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import type { LogSource } from '../../../src/ledger/raw/log.ts'

/** The file of a stopped event store, read by the store's own code, with no server between. */
export type LogFile = {
  /** For changes that the store knows nothing of. */
  database: DatabaseSync
  log: LogSource
  ledger: { eventOf(stream: string, revision: number): Promise<LoggedEvent | undefined> }
  /** The ledger's own events, in log order. */
  events(): RawEvent[]
  close(): void
}

/** Opens the database file of a stopped event store. */
export function openLogFile(path: string): LogFile {
  const database = new DatabaseSync(path)
  const file = createEventLog(database)

  function* all(from: bigint): Generator<RawEvent> {
    for (let next = Number(from); ; ) {
      const { events, atEnd } = file.allForwards(next, 128)
      for (const event of events) yield rawOf(event)
      const last = events.at(-1)
      if (atEnd || !last) return
      next = last.position + 1
    }
  }

  return {
    database,
    log: {
      head: () => Promise.resolve(undefined),
      async *pages(after, eventsPerPage = 500) {
        let page: RawEvent[] = []
        for (const event of all((after ?? -1n) + 1n)) {
          page.push(event)
          if (page.length < eventsPerPage) continue
          yield pageOf(page)
          page = []
        }
        if (page.length > 0) yield pageOf(page)
      },
    },
    ledger: {
      eventOf(stream, revision) {
        const event = file.eventAt(stream, revision)
        return Promise.resolve(
          event && { position: BigInt(event.position), id: event.id, created: new Date(event.createdMs) },
        )
      },
    },
    events: () => [...all(0n)].filter(({ stream }) => categoryOf(stream) !== undefined),
    close: () => database.close(),
  }
}

const pageOf = (events: RawEvent[]) => ({
  events: events.filter(({ stream }) => categoryOf(stream) !== undefined),
  through: events.at(-1)?.position ?? -1n,
})

const rawOf = (event: RecordedEvent): RawEvent => ({
  id: event.id,
  stream: event.stream,
  revision: event.revision,
  position: BigInt(event.position),
  type: event.type,
  isJson: event.isJson,
  data: event.data,
  metadata: event.metadata,
})
