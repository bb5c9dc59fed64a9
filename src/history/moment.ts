import type { Cutoff } from '../../projections/history/queries.ts'
import type { LogEntry, Recorded } from '../domain/recorded.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Ledger } from '../ledger/ledger.ts'

/** A moment in the past: right after an event of the stream, or a time. */
export type AsOf = { sequence: number } | { time: string }

/**
 * Evolves a state from a stream's events up to a cutoff. The order of events is that of the stream, even if
 * the clocks of their writers disagreed. An event at the time of the cutoff itself is included.
 * @throws LedgerUnavailable when an event before the cutoff cannot be read
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

/** As {@link evolveUntil}, up to one event of the stream; undefined when the stream is shorter. */
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
