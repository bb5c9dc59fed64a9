import type { Evolver } from '../domain/decider.ts'
import type { Category } from '../domain/events.ts'
import { evolveRecorded } from '../domain/recorded.ts'
import { streamName } from '../domain/streams.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'
import type { ExpectedRevision, Ledger } from './ledger.ts'

export type Loaded<State> = { state: State; revision: ExpectedRevision }

/** The state of a stream for a new id, which has no events yet. */
export const noStream = <State>({ initial }: { initial: State }): Loaded<State> => ({
  state: initial,
  revision: 'no_stream',
})

/**
 * Reads a stream from its first event. @returns its state and its revision
 * @throws LedgerUnavailable when an event of the stream cannot be read or is hidden, because no decision may rely on a
 *   partial history
 */
export async function loadFromLog<State, C extends Category>(
  ledger: Ledger,
  id: string,
  evolver: Evolver<State, C>,
): Promise<Loaded<State>> {
  const stream = streamName(evolver.category, id)
  const evolve = evolveRecorded(evolver)
  let state = evolver.initial
  let revision: number | 'no_stream' = 'no_stream'
  for await (const entry of ledger.readStream(stream)) {
    if (!entry.readable) {
      throw new LedgerUnavailable(
        `${stream} has an unreadable event at revision ${entry.revision}: ${entry.problem}`,
      )
    }
    const next: number = revision === 'no_stream' ? 0 : revision + 1
    if (entry.revision !== next) {
      throw new LedgerUnavailable(`${stream} has no event at revision ${next}, but one at ${entry.revision}`)
    }
    state = evolve(state, entry)
    revision = entry.revision
  }
  return { state, revision }
}
