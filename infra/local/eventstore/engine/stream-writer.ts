import { randomUUID } from 'node:crypto'
import { deletedRevision, noRevision, type ProposedEvent, type StreamState } from '../storage/event.ts'
import type { EventLog } from '../storage/event-log.ts'
import { createRecentEventIds } from './recent-event-ids.ts'
import {
  isMetastream,
  isSoftDeleted,
  isTombstoned,
  metastreamOf,
  originalStreamOf,
  parseRetention,
  softDeletedMetadata,
  withTruncateBefore,
} from './stream-metadata.ts'
import { checkVersion, type ExpectedVersion, type VersionCheckResult } from './version-check.ts'

export type WriteOutcome =
  /** `revision` and `position` of the last event; an empty write to an empty stream has neither. */
  | { kind: 'written'; revision: number; position: number | undefined }
  | { kind: 'wrong_version'; head: number }
  | { kind: 'deleted' }

/**
 * Checks and writes, inside the transaction of a group commit. All checks come before the first write, so a
 * refused append leaves nothing to roll back.
 */
export type StreamWriter = {
  append(name: string, expected: ExpectedVersion, events: readonly ProposedEvent[]): WriteOutcome
  /** Hides the existing events. Later appends continue their numbering. */
  softDelete(name: string, expected: ExpectedVersion): WriteOutcome
  /** Ends the stream permanently. */
  tombstone(name: string, expected: ExpectedVersion): WriteOutcome
  /** Forgets recent ids after a rollback, because their events were not written. */
  forget(): void
}

export function createStreamWriter(log: EventLog): StreamWriter {
  const recent = createRecentEventIds()

  /** The result if nothing has to be written, else `undefined`. */
  function check(
    name: string,
    stream: StreamState | undefined,
    expected: ExpectedVersion,
    ids: readonly string[],
  ): WriteOutcome | undefined {
    const head = headOf(log, name, stream)
    const result = checkVersion(expected, ids, {
      head,
      softDeleted: isSoftDeleted(stream),
      hasMetadata: () => hasEvents(log, metastreamOf(name)),
      idAt: (revision) => log.eventAt(name, revision)?.id,
      recentRevision: (id) => recent.revision(name, id),
    })
    return outcomeOf(log, name, head, result)
  }

  function write(name: string, firstRevision: number, events: readonly ProposedEvent[]): WriteOutcome {
    const revision = firstRevision + events.length - 1
    if (events.length === 0) return { kind: 'written', revision, position: undefined }
    const position = log.insert(name, firstRevision, events, Date.now())
    for (const [index, event] of events.entries()) recent.add(name, event.id, firstRevision + index)
    return { kind: 'written', revision, position }
  }

  const metadata = createMetadataWriter(log, write)

  return {
    append(name, expected, events) {
      const stream = log.stream(name)
      const ids = events.map((event) => event.id)
      const refusal = check(name, stream, expected, ids)
      if (refusal) return refusal

      const head = stream?.head ?? noRevision
      const written = write(name, head + 1, events)
      if (events.length === 0) return written
      if (isSoftDeleted(stream)) metadata.restore(name, head + 1)
      if (isMetastream(name)) metadata.written(name)
      return written
    },
    softDelete(name, expected) {
      const stream = log.stream(name)
      const refusal = check(name, stream, expected, [randomUUID()])
      // An empty stream has nothing to hide; EventStoreDB returns the same.
      if (!refusal && headOf(log, name, stream) === noRevision)
        return { kind: 'wrong_version', head: noRevision }
      return refusal ?? metadata.write(name, Buffer.from(softDeletedMetadata))
    },
    tombstone(name, expected) {
      const event = {
        id: randomUUID(),
        type: '$streamDeleted',
        isJson: false,
        metadata: new Uint8Array(),
        data: new Uint8Array(),
      }
      const refusal = check(name, log.stream(name), expected, [event.id])
      return refusal ?? write(name, deletedRevision, [event])
    },
    forget: recent.clear,
  }
}

/** Writes the metadata of streams, and keeps the retention that the log applies equal to them. */
function createMetadataWriter(
  log: EventLog,
  writeEvents: (name: string, firstRevision: number, events: readonly ProposedEvent[]) => WriteOutcome,
) {
  function write(name: string, data: Uint8Array): WriteOutcome {
    const metastream = metastreamOf(name)
    const revision = (log.stream(metastream)?.head ?? noRevision) + 1
    const event = { id: randomUUID(), type: '$metadata', isJson: true, metadata: new Uint8Array(), data }
    const written = writeEvents(metastream, revision, [event])
    log.setRetention(name, parseRetention(data))
    return written
  }

  /** After an append to a soft-deleted stream, shows the events after the delete and none from before. */
  function restore(name: string, firstVisible: number): void {
    const metadata = log.lastEvent(metastreamOf(name))?.data
    write(name, withTruncateBefore(metadata, firstVisible))
  }

  return {
    write,
    restore,
    /**
     * Metadata set on a soft-deleted stream restores it too; otherwise the delete would be lost with the old
     * metadata.
     */
    written(metastream: string): void {
      const name = originalStreamOf(metastream)
      const stream = log.stream(name)
      const last = log.lastEvent(metastream)
      if (!last) return
      if (isSoftDeleted(stream)) restore(name, (stream?.head ?? noRevision) + 1)
      else log.setRetention(name, parseRetention(last.data))
    },
  }
}

/** The outcome of a check; `undefined` when the events are to be written. */
function outcomeOf(
  log: EventLog,
  name: string,
  head: number,
  result: VersionCheckResult,
): WriteOutcome | undefined {
  switch (result.kind) {
    case 'write':
      return undefined
    case 'deleted':
      return { kind: 'deleted' }
    case 'wrong_version':
      return { kind: 'wrong_version', head }
    case 'repeated': {
      const { revision } = result
      return { kind: 'written', revision, position: log.eventAt(name, revision)?.position }
    }
  }
}

function headOf(log: EventLog, name: string, stream: StreamState | undefined): number {
  return isTombstoned(log, name, stream) ? deletedRevision : (stream?.head ?? noRevision)
}

function hasEvents(log: EventLog, name: string): boolean {
  return headOf(log, name, log.stream(name)) !== noRevision
}
