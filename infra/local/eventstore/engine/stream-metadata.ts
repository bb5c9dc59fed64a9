import { deletedRevision, noRevision, type Retention, type StreamState } from '../storage/event.ts'
import type { EventLog, Visible } from '../storage/event-log.ts'

const metastreamPrefix = '$$'

/** The metadata of stream `x` are the events of stream `$$x`; the last one applies. */
export function metastreamOf(stream: string): string {
  return metastreamPrefix + stream
}

export function isMetastream(stream: string): boolean {
  return stream.startsWith(metastreamPrefix)
}

export function originalStreamOf(metastream: string): string {
  return metastream.slice(metastreamPrefix.length)
}

/** A soft-deleted stream is truncated before the largest possible revision. */
export const softDeletedMetadata = '{"$tb":9223372036854775807}'

export function isSoftDeleted(stream: StreamState | undefined): boolean {
  return stream?.retention.truncateBefore === deletedRevision
}

/**
 * Whether a stream is tombstoned; its metadata stream then is, too.
 * @param stream the state of the stream in the log
 */
export function isTombstoned(log: EventLog, name: string, stream: StreamState | undefined): boolean {
  if (stream?.head === deletedRevision) return true
  return isMetastream(name) && log.stream(originalStreamOf(name))?.head === deletedRevision
}

/** Parses the retention settings of a metadata event. Invalid JSON sets none. */
export function parseRetention(data: Uint8Array): Retention {
  const metadata = parseObject(data)
  const maxCount = positiveInteger(metadata.$maxCount)
  const maxAgeSeconds = positiveInteger(metadata.$maxAge)
  return {
    truncateBefore: positiveInteger(metadata.$tb) ?? 0,
    ...(maxCount !== undefined && { maxCount }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  }
}

/** Changes metadata to truncate before a revision, as the first append after a soft delete does. */
export function withTruncateBefore(data: Uint8Array | undefined, revision: number): Uint8Array {
  const metadata = data ? parseObject(data) : {}
  return Buffer.from(JSON.stringify({ ...metadata, $tb: revision }))
}

/** The events of a stream that are visible now. Metadata streams keep only their last event. */
export function visibleEvents({ name, head, retention }: StreamState, nowMs: number): Visible {
  const maxCount = isMetastream(name) ? 1 : retention.maxCount
  const { truncateBefore, maxAgeSeconds } = retention
  return {
    fromRevision: Math.max(truncateBefore, maxCount === undefined ? 0 : head - maxCount + 1, 0),
    fromCreatedMs: maxAgeSeconds === undefined ? 0 : nowMs - maxAgeSeconds * 1000,
  }
}

/** All events of a stream are visible. */
export const everything: Visible = { fromRevision: noRevision, fromCreatedMs: 0 }

function parseObject(data: Uint8Array): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(data).toString())
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}

function positiveInteger(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? Math.min(Math.trunc(value), deletedRevision) : undefined
}
