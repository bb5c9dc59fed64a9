import type { Recorded } from '../domain/recorded.ts'
import type { Loaded } from './handle.ts'
import type { Ledger } from './ledger.ts'
import { LedgerUnavailable } from './unavailable.ts'

/**
 * Folds a stream from its first event.
 * @throws LedgerUnavailable when the stream holds an event that cannot be read: nothing is decided on half a history
 */
export async function loadFromLog<State>(
  ledger: Ledger,
  stream: string,
  initial: State,
  fold: (state: State, recorded: Recorded) => State,
): Promise<Loaded<State>> {
  let state = initial
  let revision: Loaded<State>['revision'] = 'no_stream'
  for await (const entry of ledger.readStream(stream)) {
    if (!entry.readable) {
      throw new LedgerUnavailable(
        `${stream} holds an unreadable event at ${entry.revision}: ${entry.problem}`,
      )
    }
    state = fold(state, entry)
    revision = entry.revision
  }
  return { state, revision }
}
