import type { Category, DomainEvent } from '../../domain/events.ts'
import type { LogEntry } from '../../domain/recorded.ts'
import { categoryOf } from '../../domain/streams.ts'
import { codec } from '../../ledger/codec.ts'
import type { Cause, ExpectedRevision, Ledger } from '../../ledger/ledger.ts'

/** What commands decided on a stream, without recording it. */
export type Decided = {
  category: Category
  id: string
  events: readonly DomainEvent[]
  /** The stream does not exist yet. */
  isNew: boolean
}

type Appended = { isNew: boolean; events: DomainEvent[]; entries: LogEntry[] }

/**
 * A ledger that reads the log and keeps what is appended to itself: its streams then have these events too, and the log does
 * not.
 */
export function rehearsalLedger(log: Ledger): { ledger: Ledger; decided: () => Decided[] } {
  const streams = new Map<string, Appended>()

  async function* readStream(stream: string, most = Number.POSITIVE_INFINITY): AsyncIterable<LogEntry> {
    let read = 0
    for await (const entry of log.readStream(stream, most)) {
      read++
      yield entry
    }
    for (const entry of streams.get(stream)?.entries ?? []) if (read++ < most) yield entry
  }

  async function append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly DomainEvent[],
    cause: Cause,
  ): ReturnType<Ledger['append']> {
    const appended = streams.get(stream) ?? { isNew: expected === 'no_stream', events: [], entries: [] }
    const last = appended.entries.at(-1)
    if (last && last.revision !== expected) return { appended: false }
    const first = expected === 'no_stream' ? 0 : expected + 1
    const entries = events.map((event, index) => entryOf(stream, first + index, event, cause))
    appended.events.push(...events)
    appended.entries.push(...entries)
    streams.set(stream, appended)
    return { appended: true, revision: first + events.length - 1, position: unrecorded }
  }

  return {
    ledger: { ...log, readStream, append },
    decided: () =>
      [...streams].flatMap(([stream, { isNew, events }]) => {
        const category = categoryOf(stream)
        return category ? [{ category, id: stream.slice(category.length + 1), events, isNew }] : []
      }),
  }
}

/** No event of the log has this position. */
const unrecorded = -1n

const entryOf = (
  stream: string,
  revision: number,
  { type, data }: DomainEvent,
  { requestId, actor, causationId, correlationId, at }: Cause,
): LogEntry =>
  codec.decode({
    id: `rehearsed-${stream}-${revision}`,
    stream,
    revision,
    position: unrecorded,
    type,
    data,
    metadata: { requestId, actor, causationId, correlationId, at, schema: codec.schemaOf(type) },
  })
