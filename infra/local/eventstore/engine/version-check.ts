import { deletedRevision, noRevision } from '../storage/event.ts'

/** What a writer expects: the revision of the last event, or a state of the stream. */
export type ExpectedVersion = number | 'any' | 'no_stream' | 'stream_exists'

/** The stream's state for the check. */
export type CheckedStream = {
  head: number
  softDeleted: boolean
  hasMetadata(): boolean
  /** The id of the event at a revision. */
  idAt(revision: number): string | undefined
  /** The revision of a recent event. */
  recentRevision(id: string): number | undefined
}

export type VersionCheckResult =
  | { kind: 'write' }
  /** The same events are already stored; `revision` is that of the last one. */
  | { kind: 'repeated'; revision: number }
  | { kind: 'wrong_version' }
  | { kind: 'deleted' }

/**
 * Checks whether events may be written, by EventStoreDB's rules: an exact expectation is idempotent for the
 * lifetime of the log, `any` and `stream_exists` only as long as the store remembers the ids.
 *
 * | expected | stream ends at | ids at the revisions after expected | result |
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
  if (stream.head === deletedRevision) return { kind: 'deleted' }
  if (expected === 'stream_exists') {
    if (stream.softDeleted) return { kind: 'deleted' }
    if (stream.head === noRevision && !stream.hasMetadata()) return { kind: 'wrong_version' }
  }
  if (expected === 'any' || expected === 'stream_exists') return checkRecentIds(ids, stream)
  return checkExact(expected, ids, stream)
}

function checkExact(
  expected: number | 'no_stream',
  ids: readonly string[],
  stream: CheckedStream,
): VersionCheckResult {
  const after = expected === 'no_stream' ? noRevision : expected
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
