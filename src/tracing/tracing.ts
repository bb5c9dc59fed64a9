/** Values that say nothing about a person and open nothing: kinds, counts, places in the log, ids of requests. */
type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A piece of work that is to be seen in a trace. */
export type Work = {
  name: string
  kind?: 'internal' | 'client' | 'consumer'
  /**
   * The chain of causes that it belongs to. In the trace of another chain it is linked to what asked for it. Without one
   * it is seen only within work that is seen.
   */
  correlationId?: string
  /** Another correlation id whose work belongs to this work, too. */
  alsoCovers?: string
  attributes?: Attributes
}

/** Adds to what is known of the work that is running. */
export type Annotate = (attributes: Attributes) => void

export type IncomingRequest = {
  requestId: string
  method: string
  /** The pattern of its path, never an id. */
  route: string
  /** The caller's own trace, as its header says; it is linked. */
  traceparent: unknown
}

/** Shows work as spans of traces. Undefined wherever it is optional: traces are off, and nothing of this is loaded. */
export type Tracing = {
  /**
   * Begins the trace of a request and runs what follows in it.
   * @returns how the request ended
   */
  beginRequest(request: IncomingRequest, follows: () => void): (status: number) => void
  /** Runs a command of the host as the beginning of a trace. */
  beginCommand<T>(requestId: string, run: () => Promise<T>): Promise<T>
  within<T>(work: Work, run: (annotate: Annotate) => Promise<T>): Promise<T>
  withinSync<T>(work: Work, run: () => T): T
  /** Work that has just ended. @param startedAt in milliseconds since 1970 */
  record(work: Work, startedAt: number): void
  /** Sends what is left, for no longer than two seconds. */
  close(): Promise<void>
}
