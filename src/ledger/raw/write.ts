import type { RawAppends } from './appends.ts'
import type { RawEventToWrite } from './event.ts'

/** The store accepts 1 MiB at most, and counts two bytes for each character of the type. */
const maxBytesPerAppend = 900_000
const maxEventsPerAppend = 500
/** Events in flight: enough to keep the store busy, and few enough to compare quickly after a failure. */
const maxEventsInFlight = 2000
const maxBytesInFlight = 8_000_000

/**
 * Writes events in exactly this order, over all streams, with many appends in flight. Consecutive events of one
 * stream are sent as one append.
 * @param onWritten called for each append in order, once it and all before it are acknowledged
 * @throws WrongRevision, LedgerUnavailable as `RawAppends` does; events not reported to onWritten may still
 *   have been written
 */
export async function writeInOrder<Event extends RawEventToWrite>(
  appends: RawAppends,
  pages: AsyncIterable<{ events: readonly Event[] }>,
  onWritten: (events: readonly Event[], position: bigint) => void,
): Promise<void> {
  const sent: { group: Group<Event>; done: Promise<bigint> }[] = []
  let events = 0
  let bytes = 0
  const settleOldest = async (): Promise<void> => {
    const oldest = sent.shift()
    if (!oldest) return
    const position = await oldest.done
    events -= oldest.group.events.length
    bytes -= oldest.group.bytes
    onWritten(oldest.group.events, position)
  }
  for await (const page of pages) {
    for (const group of groupsOf(page.events)) {
      while (events > maxEventsInFlight || bytes > maxBytesInFlight) await settleOldest()
      const done = appends.append(group.events)
      // It is awaited later; this avoids an unhandled rejection until then.
      done.catch(() => undefined)
      sent.push({ group, done })
      events += group.events.length
      bytes += group.bytes
    }
  }
  while (sent.length > 0) await settleOldest()
}

type Group<Event> = { events: Event[]; bytes: number }

/** Splits a page into groups that fit into one append. */
function groupsOf<Event extends RawEventToWrite>(events: readonly Event[]): Group<Event>[] {
  const groups: Group<Event>[] = []
  for (const event of events) {
    const bytes = event.data.length + event.metadata.length + 2 * event.type.length
    const group = groups.at(-1)
    const last = group?.events.at(-1)
    if (
      group &&
      last?.stream === event.stream &&
      last.revision + 1 === event.revision &&
      group.events.length < maxEventsPerAppend &&
      group.bytes + bytes <= maxBytesPerAppend
    ) {
      group.events.push(event)
      group.bytes += bytes
    } else groups.push({ events: [event], bytes })
  }
  return groups
}
