import type { Category, EventOf } from './events.ts'

/** The rules of one category of streams: `decide` may refuse, `evolve` never does. Both are pure. */
export type Decider<State, Command, C extends Category> = Evolver<State, C> & {
  /** No events mean that the command was already carried out, so a retry is harmless. @throws Refusal */
  decide: (state: State, command: Command) => EventOf<C>[]
}

/** How to derive the state of a stream from its events. */
export type Evolver<State, C extends Category> = {
  category: C
  /** The state of a stream without events. */
  initial: State
  evolve: (state: State, event: EventOf<C>) => State
}
