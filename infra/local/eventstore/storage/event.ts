/** An event as a client proposes it. */
export interface ProposedEvent {
  id: string
  type: string
  isJson: boolean
  metadata: Uint8Array
  data: Uint8Array
}

/** An event as it stands in the log. */
export interface RecordedEvent extends ProposedEvent {
  /** Commit and prepare position, which are the same: nothing here spans several log records. */
  position: number
  stream: string
  revision: number
  createdMs: number
}

/**
 * EventStoreDB numbers a tombstone, and marks a soft-deleted stream in `$tb`, with the largest int64. A
 * JavaScript number cannot hold that, so inside this store the largest safe integer stands for it.
 */
export const DELETED_REVISION = Number.MAX_SAFE_INTEGER

/** The revision of a stream that has no events. */
export const NO_REVISION = -1

/** What the store knows of a stream besides its events. */
export interface StreamState {
  name: string
  /** Revision of the last event, `NO_REVISION` before the first, `DELETED_REVISION` after the tombstone. */
  head: number
  retention: Retention
}

/** The part of a stream's metadata that hides events from stream reads. */
export interface Retention {
  /** `$tb`: revisions below are hidden. `DELETED_REVISION` means that the stream is soft-deleted. */
  truncateBefore: number
  /** `$maxCount` */
  maxCount?: number
  /** `$maxAge` */
  maxAgeSeconds?: number
}
