import { hash } from 'node:crypto'

/** The ids of a trace and its first span, in the form of W3C Trace Context. */
export type TraceIds = { traceId: string; spanId: string }

/**
 * Derives the trace ids from a correlation id. Every process derives the same ids from the metadata of any
 * event with that correlation id, at any time, so nothing has to be recorded.
 */
export function traceOf(correlationId: string): TraceIds {
  const digest = hash('sha256', `keyledger trace ${correlationId}`, 'hex')
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) }
}

const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** Parses a `traceparent` header; undefined when it is missing or invalid. */
export function parseTraceparent(header: unknown): (TraceIds & { isSampled: boolean }) | undefined {
  const [, traceId, spanId, flags = '0'] = (typeof header === 'string' && form.exec(header)) || []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
