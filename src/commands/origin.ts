import type { Resumable } from '../ledger/execute.ts'
import type { Cause } from '../ledger/ledger.ts'
import type { Ports } from '../ports.ts'

/** Where a command comes from: it stands in the metadata of every event that it causes. */
export type Origin = {
  requestId: string
  actor: string
  /** What led to it, when that is something else than the request: a confirmation, an event. */
  causationId?: string
  /** The first request of the chain, when that is another one. */
  correlationId?: string
  /**
   * Of a request with an Idempotency-Key, or the execution of a confirmation: whether an attempt before it may have got
   * part of the way, and by which id of the cause such attempts are known.
   */
  run?: Resumable
}

/** A request is the beginning of its own chain of causes, unless its origin says otherwise. */
export function causeOf(origin: Origin, at: string): Cause {
  const { requestId, actor, causationId = requestId, correlationId = requestId } = origin
  return { requestId, actor, causationId, correlationId, at }
}

/** Now, as the log writes it. */
export function momentOf(services: Ports<'now'>): string {
  const ms = services.now().getTime()
  if (ms !== spelled.ms) spelled = { ms, text: new Date(ms).toISOString() }
  return spelled.text
}

/** The last moment that was spelled out, which costs as much as a hash: many calls are of one millisecond. */
let spelled = { ms: Number.NaN, text: '' }
