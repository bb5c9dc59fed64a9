import { DELETED_REVISION, NO_REVISION } from '../storage/event.ts'

/** What a writer expects to find: the revision of the last event, or a state of the stream. */
export type ExpectedVersion = number | 'any' | 'no_stream' | 'stream_exists'

/** The stream as the check sees it. */
export interface CheckedStream {
  head: number
  softDeleted: boolean
  hasMetadata(): boolean
  /** Id of the event at a revision. */
  idAt(revision: number): string | undefined
  /** Revision of an event that was written lately. */
  recentRevision(id: string): number | undefined
}

export type VersionCheckResult =
  | { kind: 'write' }
  /** Exactly these events are there already: `revision` is that of the last of them. */
  | { kind: 'repeated'; revision: number }
  | { kind: 'wrong_version' }
  | { kind: 'deleted' }

/**
 * May these events be written? The rules are EventStoreDB's: an exact expectation is idempotent for as long as
 * the log exists, `any` and `stream_exists` only as far as the store remembers ids.
 *
 * | expected | stream ends at | ids at the places after expected | verdict |
 * |---|---|---|---|
 * | exact | expected | – | write |
 * | exact | beyond | all the same | repeated |
 * | exact | beyond | some or none the same | wrong version |
 * | exact | before | – | wrong version |
 * | no_stream | soft-deleted | none the same | write, with the old numbering |
 */
export function checkVersion(
  expected: ExpectedVersion,
  ids: readonly string[],
  stream: CheckedStream,
): VersionCheckResult {
  if (stream.head === DELETED_REVISION) return { kind: 'deleted' }
  if (expected === 'stream_exists') {
    if (stream.softDeleted) return { kind: 'deleted' }
    if (stream.head === NO_REVISION && !stream.hasMetadata()) return { kind: 'wrong_version' }
  }
  if (expected === 'any' || expected === 'stream_exists') return checkRecentIds(ids, stream)
  return checkExact(expected, ids, stream)
}

function checkExact(
  expected: number | 'no_stream',
  ids: readonly string[],
  stream: CheckedStream,
): VersionCheckResult {
  const after = expected === 'no_stream' ? NO_REVISION : expected
  if (after === stream.head) return { kind: 'write' }
  if (after > stream.head) return { kind: 'wrong_version' }

  const firstMismatch = ids.findIndex((id, index) => stream.idAt(after + 1 + index) !== id)
  if (ids.length > 0 && firstMismatch === -1) return { kind: 'repeated', revision: after + ids.length }
  if (expected === 'no_stream' && stream.softDeleted && firstMismatch <= 0) return { kind: 'write' }
  return { kind: 'wrong_version' }
}

function checkRecentIds(ids: readonly string[], stream: CheckedStream): VersionCheckResult {
  let last: number | undefined
  for (const [index, id] of ids.entries()) {
    const revision = stream.recentRevision(id)
    if (revision === undefined) return index === 0 ? { kind: 'write' } : { kind: 'wrong_version' }
    last = revision
  }
  return last === undefined ? { kind: 'write' } : { kind: 'repeated', revision: last }
}
