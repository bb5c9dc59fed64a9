import type { LoggedEvent } from '../../../src/ledger/ledger.ts'
import type { RawEvent } from '../../../src/ledger/raw/event.ts'
import type { LogSource } from '../../../src/ledger/raw/log.ts'
import type { Random } from '../tampering/tamper.ts'

/** A log in memory: what an event store holds, without the store. */
export type MemoryLog = {
  length(): number
  append(event: RawEvent): void
  /** The same events in another store, at other positions. */
  copy(): MemoryLog
  /** The store as it was when it had so many events. */
  restoredTo(length: number): MemoryLog
  log: LogSource
  ledger: { eventOf(stream: string, revision: number): Promise<LoggedEvent | undefined> }
}

/** @param random decides how large pages are, and at which positions events are */
export function createMemoryLog(random: Random, kept: readonly RawEvent[] = []): MemoryLog {
  const events: RawEvent[] = []
  const places = new Map<string, RawEvent>()
  const append = (given: RawEvent) => {
    const position = (events.at(-1)?.position ?? 0n) + BigInt(1 + random(500))
    const event = { ...given, position }
    events.push(event)
    places.set(`${event.stream}@${event.revision}`, event)
  }
  for (const event of kept) append(event)
  return {
    length: () => events.length,
    append,
    copy: () => createMemoryLog(random, events),
    restoredTo: (length) => createMemoryLog(random, events.slice(0, length)),
    log: {
      head: () => Promise.resolve(events.at(-1)?.position),
      async *pages(after) {
        let next = after === undefined ? 0 : events.findIndex(({ position }) => position > after)
        while (next >= 0 && next < events.length) {
          const page = events.slice(next, next + 1 + random(40))
          next += page.length
          await new Promise((resolve) => setImmediate(resolve))
          yield { events: page, through: page.at(-1)?.position ?? -1n }
        }
      },
    },
    ledger: {
      eventOf(stream, revision) {
        const found = places.get(`${stream}@${revision}`)
        return Promise.resolve(found && { position: found.position, id: found.id, created: new Date(0) })
      },
    },
  }
}
