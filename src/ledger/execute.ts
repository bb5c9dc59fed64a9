import { setTimeout } from 'node:timers/promises'
import type { KeyedMutex } from '../async/keyed-mutex.ts'
import type { Decider } from '../domain/decider.ts'
import type { Category, EventOf } from '../domain/events.ts'
import { streamName } from '../domain/streams.ts'
import type { Cause, ExpectedRevision, Ledger } from './ledger.ts'
import { type Loaded, loadFromLog } from './load.ts'
import { LedgerUnavailable } from './unavailable.ts'

/**
 * Says that a command belongs to a run that may begin again after a crash: what an earlier attempt of the run has
 * recorded in the stream is not recorded again. The attempts are known by an id of the cause that they share: requests
 * with one Idempotency-Key by the correlation id (the default), executions of one confirmation by the causation id,
 * which is the confirmation's.
 */
export type Resumable = { resumed: boolean; sharedId?: 'correlationId' | 'causationId' }

type ExecuteOptions<State, C extends Category> = {
  /** What the caller has already read: used for the first attempt, unless another command on the stream ran since. */
  found?: Loaded<State> | undefined
  /**
   * Where the state is read, if not from the stream itself: a row of a read model. It may be behind the stream; the
   * append at its revision is refused then, and the row is read again.
   */
  read?: (() => Promise<Loaded<State>>) | undefined
  run?: Resumable | undefined
  /** Called with what was decided on, before it is recorded; it refuses by throwing. */
  admit?: ((events: EventOf<C>[]) => void) | undefined
  /** Awaited once the events are in the log: proves that what else the decision relied on held until then. */
  proof?: (() => Promise<void>) | undefined
  /** Whether to wait until the read models show what was recorded. The default is true. */
  waits?: boolean
}

type Executed<State, C extends Category> = {
  /** The state before and after the events. */
  before: State
  state: State
  events: EventOf<C>[]
  /** The revision of the stream now, as far as is known. */
  revision: ExpectedRevision
  /** An earlier attempt of the run had recorded the command, so this one recorded nothing. */
  recordedBefore?: true
  /** The position of the last event in the log. */
  position?: bigint
}

/** What a command waits for, so that the next request reads what it wrote. */
export type ReadModels = { advanceTo(position: bigint): Promise<void>; catchUp(): Promise<void> }

/**
 * Executes a command on a stream, which is named by the decider's category and the id.
 * @param command or what prepares it from the state, such as a secret to keep; undefined when there is nothing to do
 * @throws Refusal when the rules do not allow the command
 * @throws LedgerUnavailable when the stores do not answer in time, or other commands win the race too often; what the
 *   preparation, `admit` and the proof throw
 */
export type Execute = <State, Command, C extends Category>(
  decider: Decider<State, Command, C>,
  id: string,
  command: NoInfer<Command | Prepare<State, Command>>,
  cause: Cause,
  options?: NoInfer<ExecuteOptions<State, C>>,
) => Promise<Executed<State, C>>

type Prepare<State, Command> = (state: State) => Command | undefined | Promise<Command | undefined>

/** Races are only lost to other processes, since this process runs one command on a stream at a time. */
const attempts = 25

/**
 * The one way in which anything is changed: load, decide, append at exactly the revision that was decided on, and wait
 * until the read models show it. A crash before the append leaves nothing; one after it leaves the events, and the next
 * command or projector brings the read models up to them.
 */
export function createExecute(ledger: Ledger, readModels: ReadModels, mutex: KeyedMutex): Execute {
  return (decider, id, command, cause, options = {}) => {
    const { found, run, admit, proof, waits = true } = options
    const stream = streamName(decider.category, id)
    const read = options.read ?? (() => loadFromLog(ledger, id, decider))
    const prepare = isPrepare(command) ? command : () => command
    return mutex.run(stream, async (waited) => {
      let basis = waited ? undefined : found
      let mayBeRecorded = run?.resumed ?? false
      for (let attempt = 0; attempt < attempts; attempt++) {
        if (mayBeRecorded && (await isCauseOfAny(ledger, stream, cause, run?.sharedId ?? 'correlationId'))) {
          await readModels.catchUp()
          const { state, revision } = await read()
          return { before: state, state, events: [], revision, recordedBefore: true }
        }
        basis ??= await read()
        const { state: before, revision } = basis
        const prepared = await prepare(before)
        const events = prepared === undefined ? [] : decider.decide(before, prepared)
        if (events.length === 0) return { before, state: before, events, revision }
        admit?.(events)
        const outcome = await ledger.append(stream, revision, events, cause)
        if (outcome.appended) {
          await Promise.all([proof?.(), waits && readModels.advanceTo(outcome.position)])
          const state = events.reduce(decider.evolve, before)
          return { before, state, events, revision: outcome.revision, position: outcome.position }
        }
        basis = undefined
        // The command that won may have been another attempt of the same run.
        mayBeRecorded = run !== undefined
        await readModels.catchUp()
        await setTimeout(Math.random() * Math.min(100, 2 ** attempt))
      }
      throw new LedgerUnavailable(`too many other commands change ${stream} at this moment`)
    })
  }
}

const isPrepare = <State, Command>(
  command: Command | Prepare<State, Command>,
): command is Prepare<State, Command> => typeof command === 'function'

/** Whether an event of the stream has this id of the cause. */
async function isCauseOfAny(
  ledger: Ledger,
  stream: string,
  cause: Cause,
  sharedId: 'correlationId' | 'causationId',
): Promise<boolean> {
  for await (const entry of ledger.readStream(stream)) {
    if (entry.readable && entry.metadata[sharedId] === cause[sharedId]) return true
  }
  return false
}
