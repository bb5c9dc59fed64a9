import type { Cutoff } from '../../projections/history/queries.ts'
import type { LogEntry, Recorded } from '../domain/recorded.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { LedgerUnavailable } from '../ledger/unavailable.ts'

/** What somebody asks about: right after an event of the thing's own history, or a time. */
export type AsOf = { sequence: number } | { time: string }

/**
 * Folds a stream as far as it had come. An event is never before one that stands before it, whatever the clocks of
 * those who recorded them said; what was recorded at the very time of the cut had happened.
 * @throws LedgerUnavailable when an event on the way cannot be read
 */
export async function evolveUntil<State>(
  ledger: Pick<Ledger, 'readStream'>,
  stream: string,
  cut: Cutoff,
  initial: State,
  evolve: (state: State, recorded: Recorded) => State,
): Promise<State> {
  let state = initial
  for await (const entry of ledger.readStream(stream)) {
    if (isBehind(entry, cut)) break
    state = evolve(state, readable(entry))
  }
  return state
}

/** As {@link evolveUntil}, right after one event of the stream; undefined when it has not come so far. */
export async function evolveThrough<State>(
  ledger: Pick<Ledger, 'readStream'>,
  stream: string,
  sequence: number,
  initial: State,
  evolve: (state: State, recorded: Recorded) => State,
): Promise<{ state: State; position: bigint } | undefined> {
  let state = initial
  for await (const entry of ledger.readStream(stream)) {
    const recorded = readable(entry)
    state = evolve(state, recorded)
    if (recorded.revision === sequence) return { state, position: recorded.position }
  }
  return undefined
}

function isBehind(entry: LogEntry, cut: Cutoff): boolean {
  if ('position' in cut) return entry.position > cut.position
  return readable(entry).metadata.at > cut.time
}

function readable(entry: LogEntry): Recorded {
  if (entry.readable) return entry
  throw new LedgerUnavailable(
    `${entry.stream} has an unreadable event at revision ${entry.revision}: ${entry.problem}`,
  )
}
