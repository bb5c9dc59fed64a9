/** An event as a client proposes it. */
export type ProposedEvent = {
  id: string
  type: string
  isJson: boolean
  metadata: Uint8Array
  data: Uint8Array
}

/** An event in the log. */
export type RecordedEvent = ProposedEvent & {
  /** The commit and prepare position, which are equal because no write spans several log records. */
  position: number
  stream: string
  revision: number
  createdMs: number
}

/**
 * EventStoreDB uses the largest int64 as the revision of a tombstone and as `$tb` of a soft-deleted stream. A
 * JavaScript number cannot represent it, so this store uses the largest safe integer.
 */
export const deletedRevision = Number.MAX_SAFE_INTEGER

/** The revision of a stream that has no events. */
export const noRevision = -1

/** The state of a stream besides its events. */
export type StreamState = {
  name: string
  /** The revision of the last event, `noRevision` before the first, `deletedRevision` after the tombstone. */
  head: number
  retention: Retention
}

/** The part of a stream's metadata that hides events from stream reads. */
export type Retention = {
  /** `$tb`: revisions below are hidden. `deletedRevision` means that the stream is soft-deleted. */
  truncateBefore: number
  /** `$maxCount` */
  maxCount?: number
  /** `$maxAge` */
  maxAgeSeconds?: number
}
