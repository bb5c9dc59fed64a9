import { setTimeout } from 'node:timers/promises'
import type { Category, EventOf } from '../domain/events.ts'
import type { Cause, ExpectedRevision, Ledger } from './ledger.ts'
import type { Turns } from './turns.ts'
import { LedgerUnavailable } from './unavailable.ts'

export type Loaded<State> = { state: State; revision: ExpectedRevision }

/**
 * Says that a command belongs to a run that may begin again after a crash: what an earlier attempt of the run has
 * recorded in the stream is not recorded again. The attempts are known by an id of the cause that they share: requests
 * with one Idempotency-Key by the correlation id (the default), executions of one confirmation by the causation id,
 * which is the confirmation's.
 */
export type Resumable = { resumed: boolean; sharedId?: 'correlationId' | 'causationId' }

type Command<State, C extends Category> = {
  stream: string
  /** Reads the state to decide on, and the revision that it stands at. Called again after a lost race. */
  load: () => Promise<Loaded<State>>
  /** What the caller has already read; used for the first try unless somebody had a turn in between. */
  loaded?: Loaded<State> | undefined
  /** Pure. May refuse by throwing; no events means that the request was already true. */
  decide: (state: State) => EventOf<C>[]
  cause: Cause
  run?: Resumable | undefined
  /** Waited for once the events stand in the log: that what else was decided on held until then. */
  proof?: (() => Promise<void>) | undefined
  /** Whether the read models are to show what was recorded; if not, whoever goes on from there waits for it. */
  waits?: boolean
}

type Handled<State, C extends Category> = {
  /** The state that was decided on, before the events. */
  state: State
  events: EventOf<C>[]
  /** At which the stream stands now, as far as is known. */
  revision: ExpectedRevision
  /** The run had recorded the command before, so that this time there was nothing to do. */
  recordedBefore?: true
  /** Where the last of the events stands in the log. */
  position?: bigint
}

/** What a command waits for, so that whoever asks next reads what it wrote. */
export type ReadModels = { advanceTo(position: bigint): Promise<void>; catchUp(): Promise<void> }

export type Handle = <State, C extends Category>(command: Command<State, C>) => Promise<Handled<State, C>>

/** Races are only lost to other processes, since this one's commands take turns; each loss means another's win. */
const tries = 25

/**
 * The one way in which anything is changed: load, decide, append at exactly the revision that was decided on,
 * wait until the read models show it. A crash before the append leaves nothing; one after it leaves the fact, and
 * the next command or projector carries the read models there.
 * @throws Refusal when the rules do not allow the command
 * @throws LedgerUnavailable when the stores do not answer in time, or the race is lost too often; what the proof throws
 */
export function createHandle(ledger: Ledger, readModels: ReadModels, turns: Turns): Handle {
  return ({ stream, load, loaded, decide, cause, run, proof, waits = true }) =>
    turns.take(stream, async (waited) => {
      let basis = waited ? undefined : loaded
      let mayBeRecorded = run?.resumed ?? false
      for (let attempt = 0; attempt < tries; attempt++) {
        if (mayBeRecorded && (await isCauseOfAny(ledger, stream, cause, run?.sharedId ?? 'correlationId'))) {
          await readModels.catchUp()
          return { ...(await load()), events: [], recordedBefore: true }
        }
        basis ??= await load()
        const events = decide(basis.state)
        if (events.length === 0) return { ...basis, events }
        const outcome = await ledger.append(stream, basis.revision, events, cause)
        if (outcome.appended) {
          await Promise.all([proof?.(), waits && readModels.advanceTo(outcome.position)])
          const { revision, position } = outcome
          return { state: basis.state, events, revision, position }
        }
        basis = undefined
        // Whoever was faster may have been another request of the same run.
        mayBeRecorded = run !== undefined
        await readModels.catchUp()
        await setTimeout(Math.random() * Math.min(100, 2 ** attempt))
      }
      throw new LedgerUnavailable(`too many others change ${stream} at this moment`)
    })
}

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
