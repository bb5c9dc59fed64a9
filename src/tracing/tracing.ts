import { hash } from 'node:crypto'

/** Values without personal data or secrets: kinds, counts, log positions, request ids. */
type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A piece of work to be shown in a trace. */
export type Work = {
  name: string
  kind?: 'internal' | 'client' | 'consumer'
  /**
   * The correlation id of the work. If the running work has another one, the new span is linked to it. Without
   * a correlation id, the work is shown only inside other traced work.
   */
  correlationId?: string
  /** Another correlation id whose work belongs under this work. */
  alsoCovers?: string
  attributes?: Attributes
}

/** Adds attributes to the running span. */
export type Annotate = (attributes: Attributes) => void

export type IncomingRequest = {
  requestId: string
  method: string
  /** The route pattern, without ids. */
  route: string
  /** The caller's `traceparent` header; its trace is linked. */
  traceparent: unknown
}

/**
 * Records work as spans of traces. Where it is optional, undefined means that tracing is off and its code is
 * not loaded.
 */
export type Tracing = {
  /**
   * Starts the trace of a request, and runs the rest of the request in it.
   * @returns a function to call with the response status at the end
   */
  beginRequest(request: IncomingRequest, follows: () => void): (status: number) => void
  /** Runs a command of the command line as the start of a trace. */
  beginCommand<T>(requestId: string, run: () => Promise<T>): Promise<T>
  within<T>(work: Work, run: (annotate: Annotate) => Promise<T>): Promise<T>
  withinSync<T>(work: Work, run: () => T): T
  /** Records work that has just ended. @param startedAt in milliseconds since 1970 */
  record(work: Work, startedAt: number): void
  /** Sends the remaining spans, within two seconds. */
  close(): Promise<void>
}

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
