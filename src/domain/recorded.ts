import { z } from 'zod'
import type { Evolver } from './decider.ts'
import type { Category, EventOf } from './events.ts'
import { Moment, SealedSource } from './values.ts'

/**
 * Who caused an event: a token, a member, a customer in the portal, a payment provider, an app, an operator on the
 * host, or the service itself.
 */
export const Actor = z.string().regex(/^(token|member|customer|provider|client|operator|system):.+$/)

export const EventMetadata = z.object({
  requestId: z.string().min(1),
  actor: Actor,
  /** The event or request that led to this one. */
  causationId: z.string().min(1),
  /** The first request of the whole chain. */
  correlationId: z.string().min(1),
  /** The version of the event's schema, for upcasting. */
  schema: z.int().positive(),
  at: Moment,
  /** Of administration by a request; absent for the command line and for work of the service itself. */
  from: SealedSource.optional(),
  /** Random, so that what an archive withholds cannot be guessed from the event's leaf. Absent in events from before salts were. */
  salt: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
})
export type EventMetadata = z.infer<typeof EventMetadata>

type Place = {
  /** The event's own id. */
  id: string
  stream: string
  /** Within the stream, from 0. */
  revision: number
  /** Within the whole log; sparse, so only the order is meaningful. */
  position: bigint
}

/** An event of the log with its position and metadata. */
export type Recorded<C extends Category = Category> = {
  [K in C]: Place & { readable: true; category: K; event: EventOf<K>; metadata: EventMetadata }
}[C]

/** An event that no known schema matches. Its stream is parked; other streams are not affected. */
export type Unreadable = Place & { readable: false; type: string; problem: string }

export type LogEntry = Recorded | Unreadable

/** An evolver for entries of the log: an event of another category leaves the state unchanged. */
export function evolveRecorded<State, C extends Category>({
  category,
  evolve,
}: Pick<Evolver<State, C>, 'category' | 'evolve'>): (state: State, recorded: Recorded) => State {
  const isOwn = (recorded: Recorded): recorded is Recorded & { event: EventOf<C> } =>
    recorded.category === category
  return (state, recorded) => (isOwn(recorded) ? evolve(state, recorded.event) : state)
}
