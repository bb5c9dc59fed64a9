import type { RawAppends } from './raw-appends.ts'
import type { RawEventToWrite } from './raw-event.ts'

/** The store takes 1 MiB at most, counted with two bytes a character of the type. */
const maxBytesPerAppend = 900_000
const maxEventsPerAppend = 500
/** On their way at a time: enough that the store is never idle, and little to look through after a failure. */
const maxEventsInFlight = 2000
const maxBytesInFlight = 8_000_000

/**
 * Writes events in exactly this order, over all streams, with many appends on their way at a time. Events of one stream
 * that follow each other are one append.
 * @param onWritten told of each append in order, once it and all before it are acknowledged
 * @throws WrongRevision, LedgerUnavailable as `RawAppends` does; what was not reported as written may still have been
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
      // It is waited for in its turn; until then its failure is nobody's.
      done.catch(() => undefined)
      sent.push({ group, done })
      events += group.events.length
      bytes += group.bytes
    }
  }
  while (sent.length > 0) await settleOldest()
}

type Group<Event> = { events: Event[]; bytes: number }

/** Splits a part of a log into what one append may hold. */
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
