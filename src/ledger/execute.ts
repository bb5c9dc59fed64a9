import { setTimeout } from 'node:timers/promises'
import type { KeyedMutex } from '../async/keyed-mutex.ts'
import { isAdministration } from '../domain/administration.ts'
import type { Decider, Evolver } from '../domain/decider.ts'
import type { Category, EventOf } from '../domain/events.ts'
import { evolveRecorded } from '../domain/recorded.ts'
import { streamName } from '../domain/streams.ts'
import type { SealedSource } from '../domain/values.ts'
import { LedgerUnavailable } from './connection/unavailable.ts'
import type { Cause, ExpectedRevision, Ledger } from './ledger.ts'

/**
 * Marks a command as part of a run that may be repeated after a crash. An event that an earlier attempt
 * recorded in the stream is not recorded again. Attempts of one run share an id in the cause: requests with one
 * Idempotency-Key share the correlation id (the default), executions of one confirmation share the causation
 * id, which is the id of the confirmation.
 */
export type RunMark = { resumed: boolean; sharedId?: 'correlationId' | 'causationId' }

type ExecuteOptions<State, C extends Category> = {
  /**
   * State that the caller has already read. The first attempt uses it, unless it had to wait for another
   * command on the stream.
   */
  loaded?: Loaded<State> | undefined
  /**
   * Reads the state from a read model instead of the stream. If it is behind the stream, the append is refused
   * and the state is read again.
   */
  read?: (() => Promise<Loaded<State>>) | undefined
  run?: RunMark | undefined
  /** Called with the decided events before they are appended; throws to refuse them. */
  admit?: ((events: EventOf<C>[]) => void) | undefined
  /**
   * Awaited after the append: confirms that a lock over other streams was held throughout. If it rejects, the events
   * stay recorded and the caller gets 503.
   */
  proof?: (() => Promise<void>) | undefined
  /** Whether to wait until the read models show the events. The default is true. */
  waits?: boolean
}

type Executed<State, C extends Category> = {
  /** The state before and after the events. */
  before: State
  state: State
  events: EventOf<C>[]
  /** The current revision of the stream, as far as is known. */
  revision: ExpectedRevision
  /** An earlier attempt of the run recorded the command, so this one recorded nothing. */
  recordedBefore?: true
  /** The position of the last event in the log. */
  position?: bigint
}

/** Where a request came from, in clear. */
export type Source = {
  tenantId: string
  /** The member who acts, or who made the token; null for a token that was made on the command line. */
  memberId: string | null
  address: string
}

/** Seals where a request came from; undefined when the person was erased. */
export type SealSource = (source: Source) => Promise<SealedSource | undefined>

/** The cause of a command. The source is asked for and recorded, sealed, with administration alone. */
type CommandCause = Cause & { source?: (() => Source) | undefined }

/** The read models that a command waits for, so that the next request sees its effect. */
export type ReadModels = { advanceTo(position: bigint): Promise<void>; catchUp(): Promise<void> }

/**
 * Executes a command on the stream of the decider's category and the id.
 * @param command the command, or a function that makes it from the state, such as after storing a secret;
 *   undefined when there is nothing to do
 * @throws Refusal when the rules do not allow the command
 * @throws LedgerUnavailable when the stores do not answer in time, or concurrent appends win too often; errors
 *   of the command function, `admit` and `proof`
 */
export type Execute = <State, Command, C extends Category>(
  decider: Decider<State, Command, C>,
  id: string,
  command: NoInfer<Command | Prepare<State, Command>>,
  cause: CommandCause,
  options?: NoInfer<ExecuteOptions<State, C>>,
) => Promise<Executed<State, C>>

type Prepare<State, Command> = (state: State) => Command | undefined | Promise<Command | undefined>

/** The keyed mutex serializes commands of this process, so only other processes cause conflicts. */
const attempts = 25

/**
 * Creates the function that makes every change: load, decide, append at the revision that was read, and wait
 * until the read models show the events. A crash before the append leaves nothing behind. After a crash that
 * follows the append, the next command or projector brings the read models up to date.
 * @param sealSource without it, events do not say where they came from
 */
export function createExecute(
  ledger: Ledger,
  readModels: ReadModels,
  mutex: KeyedMutex,
  sealSource?: SealSource,
): Execute {
  return (decider, id, command, { source, ...cause }, options = {}) => {
    const { loaded, run, admit, proof, waits = true } = options
    const stream = streamName(decider.category, id)
    const read = options.read ?? (() => loadFromLog(ledger, id, decider))
    const prepare = isPrepare(command) ? command : () => command
    return mutex.run(stream, async (waited) => {
      let basis = waited ? undefined : loaded
      let mayBeRecorded = run?.resumed ?? false
      for (let attempt = 0; attempt < attempts; attempt++) {
        basis ??= await read()
        const { state: before, revision } = basis
        // After the read of the basis: what an earlier attempt records later makes the append below fail.
        if (mayBeRecorded && (await isRecorded(ledger, stream, revision, cause, run))) {
          await readModels.catchUp()
          const { state, revision } = await read()
          return { before: state, state, events: [], revision, recordedBefore: true }
        }
        const prepared = await prepare(before)
        const events = prepared === undefined ? [] : decider.decide(before, prepared)
        if (events.length === 0) return { before, state: before, events, revision }
        admit?.(events)
        const from =
          source && isAdministration(decider.category, events) ? await sealSource?.(source()) : undefined
        const outcome = await ledger.append(stream, revision, events, from ? { ...cause, from } : cause)
        if (outcome.appended) {
          await Promise.all([proof?.(), waits && readModels.advanceTo(outcome.position)])
          const state = events.reduce(decider.evolve, before)
          return { before, state, events, revision: outcome.revision, position: outcome.position }
        }
        basis = undefined
        // The append that won may be another attempt of the same run.
        mayBeRecorded = run !== undefined
        await readModels.catchUp()
        await backOff(attempt)
      }
      throw new LedgerUnavailable(`too many other commands change ${stream} at this moment`)
    })
  }
}

const isPrepare = <State, Command>(
  command: Command | Prepare<State, Command>,
): command is Prepare<State, Command> => typeof command === 'function'

const backOff = (attempt: number) => setTimeout(Math.random() * Math.min(100, 2 ** attempt))

/**
 * Whether an earlier attempt of the run recorded an event of the stream. The store may refuse an append some
 * milliseconds before the one that won can be read, so the stream is read until it has the given revision.
 * @param through the revision that the answer must cover
 * @throws LedgerUnavailable when the stream still ends before this revision, because the node that was read is behind
 */
async function isRecorded(
  ledger: Ledger,
  stream: string,
  through: ExpectedRevision,
  cause: Cause,
  run: RunMark | undefined,
): Promise<boolean> {
  const sharedId = run?.sharedId ?? 'correlationId'
  for (let attempt = 0; attempt < attempts; attempt++) {
    let last = -1
    for await (const entry of ledger.readStream(stream)) {
      if (entry.readable && entry.metadata[sharedId] === cause[sharedId]) return true
      last = entry.revision
    }
    if (through === 'no_stream' || last >= through) return false
    await backOff(attempt)
  }
  throw new LedgerUnavailable(`the node that was read does not have revision ${through} of ${stream} yet`)
}

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
