import { hash } from 'node:crypto'

/** By which a trace is known, and its first span, in the form of W3C Trace Context. */
export type TraceIds = { traceId: string; spanId: string }

/**
 * The trace of a chain of causes, from its correlation id. Every process finds the same one from the metadata of any event
 * of the chain, however much later, and nothing has to be recorded for it.
 */
export function traceOf(correlationId: string): TraceIds {
  const digest = hash('sha256', `keyledger trace ${correlationId}`, 'hex')
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) }
}

const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** What a caller's `traceparent` says; undefined for none, or one that is not in the form of the standard. */
export function parseTraceparent(header: unknown): (TraceIds & { isSampled: boolean }) | undefined {
  const [, traceId, spanId, flags = '0'] = (typeof header === 'string' && form.exec(header)) || []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
