import type { LogEntry } from '../domain/recorded.ts'
import { categoryOf } from '../domain/streams.ts'
import type { Execute } from '../ledger/execute.ts'
import type { Ledger, Page } from '../ledger/ledger.ts'
import type { Tracing } from './tracing.ts'

/** Traces show only the category, because stream names contain ids. */
const kindOf = (stream: string): string => categoryOf(stream) ?? 'unknown'

/** Adds a span for each command and each decision in it. */
export const tracedExecute =
  (tracing: Tracing, execute: Execute): Execute =>
  (decider, id, command, cause, options) => {
    const { category, decide } = decider
    const traced: typeof decider = {
      ...decider,
      decide: (state, given) =>
        tracing.withinSync({ name: `decide ${category}` }, () => decide(state, given)),
    }
    const { correlationId } = cause
    return tracing.within({ name: `handle ${category}`, correlationId }, () =>
      execute(traced, id, command, cause, options),
    )
  }

/** Adds a span for each append. */
export const tracedLedger = (tracing: Tracing, ledger: Ledger): Ledger => ({
  ...ledger,
  append: (stream, expected, events, cause) =>
    tracing.within(
      {
        name: `append ${kindOf(stream)}`,
        kind: 'client',
        correlationId: cause.correlationId,
        attributes: {
          'db.system.name': 'eventstoredb',
          'keyledger.event_types': events.map(({ type }) => type),
        },
      },
      async (annotate) => {
        const outcome = await ledger.append(stream, expected, events, cause)
        annotate(
          outcome.appended
            ? { 'keyledger.position': String(outcome.position) }
            : { 'keyledger.lost_race': true },
        )
        return outcome
      },
    ),
})

/** Adds a span for a command's wait for the read models. */
export const tracedWait = <T extends { advanceTo(position: bigint): Promise<void> }>(
  tracing: Tracing,
  readModels: T,
): T => ({
  ...readModels,
  advanceTo: (position: bigint) =>
    tracing.within({ name: 'wait for read models' }, () => readModels.advanceTo(position)),
})

type Log = { readPage(after: bigint | undefined, limit: number): Promise<Page> }
type Step = { from: bigint; to: bigint }

/** The largest number of traces that get a span for one batch. */
const maxSpansPerBatch = 100

/** Observes what a log reader reads, to record a span for each batch in the traces of its events. */
export function watchBatches<L extends Log>(
  tracing: Tracing,
  log: L,
): { log: L; onBatch: (step: Step, startedAt: number) => void } {
  let read: readonly LogEntry[] = []
  return {
    log: {
      ...log,
      async readPage(after: bigint | undefined, limit: number) {
        const page = await log.readPage(after, limit)
        read = page.entries
        return page
      },
    },
    onBatch({ from, to }, startedAt) {
      const chains = new Map<string, number>()
      for (const entry of read) {
        if (!entry.readable || entry.position <= from || entry.position > to) continue
        const { correlationId } = entry.metadata
        // An attempt's correlation id is its delivery, which has another trace.
        if (entry.event.type !== 'DeliveryAttempted' && entry.event.type !== 'DeliveryAttemptInterrupted')
          chains.set(correlationId, (chains.get(correlationId) ?? 0) + 1)
      }
      for (const [correlationId, events] of [...chains].slice(0, maxSpansPerBatch)) {
        tracing.record(
          { name: 'project', correlationId, attributes: { 'keyledger.events': events } },
          startedAt,
        )
      }
    },
  }
}
