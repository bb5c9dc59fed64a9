import { expect } from 'vitest'
import { Refusal, type RefusalCode } from '../../src/domain/refusal.ts'

/** A stream's rules: its initial state, `decide` and `evolve`. */
type Rules<State, Command, Event> = {
  initial: State
  decide: (state: State, command: Command) => Event[]
  evolve: (state: State, event: Event) => State
}

/**
 * Tests the result of a command after a history: `given(...events).when(command).expectEvents([...])`. An
 * error that is not a refusal fails the test.
 */
export function givenOn<State, Command, Event>(rules: Rules<State, Command, Event>) {
  return (...history: readonly Event[]) => ({
    when(command: Command) {
      const state = history.reduce(rules.evolve, rules.initial)
      const outcome = outcomeOf(() => rules.decide(state, command))
      return {
        expectEvents: (events: readonly Event[]) => expect(outcome).toStrictEqual({ events }),
        expectRefusal: (refusal: RefusalCode) => expect(outcome).toStrictEqual({ refusal }),
      }
    },
  })
}

type Outcome<Event> = { events: Event[] } | { refusal: RefusalCode }

/** A decision as a value, for comparisons. */
export function outcomeOf<Event>(decision: () => Event[]): Outcome<Event> {
  try {
    return { events: decision() }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.code }
    throw error
  }
}
