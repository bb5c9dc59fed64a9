import { randomUUID } from 'node:crypto'
import { deletedRevision, noRevision, type ProposedEvent, type StreamState } from '../storage/event.ts'
import type { EventLog } from '../storage/event-log.ts'
import { RecentEventIds } from './recent-event-ids.ts'
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
import { checkVersion, type ExpectedVersion } from './version-check.ts'

export type WriteOutcome =
  /** `revision` and `position` of the last event; an empty write to an empty stream has neither. */
  | { kind: 'written'; revision: number; position: number | undefined }
  | { kind: 'wrong_version'; head: number }
  | { kind: 'deleted' }

/**
 * Checks and writes, inside the transaction of a group commit. All checks come before the first write, so a
 * refused append leaves nothing to roll back.
 */
export class StreamWriter {
  readonly #log: EventLog
  readonly #recent = new RecentEventIds()

  constructor(log: EventLog) {
    this.#log = log
  }

  append(name: string, expected: ExpectedVersion, events: readonly ProposedEvent[]): WriteOutcome {
    const stream = this.#log.stream(name)
    const ids = events.map((event) => event.id)
    const refusal = this.#check(name, stream, expected, ids)
    if (refusal) return refusal

    const head = stream?.head ?? noRevision
    const written = this.#write(name, head + 1, events)
    if (events.length === 0) return written
    if (isSoftDeleted(stream)) this.#restore(name, head + 1)
    if (isMetastream(name)) this.#metadataWritten(name)
    return written
  }

  /** Hides the existing events. Later appends continue their numbering. */
  softDelete(name: string, expected: ExpectedVersion): WriteOutcome {
    const stream = this.#log.stream(name)
    const refusal = this.#check(name, stream, expected, [randomUUID()])
    // An empty stream has nothing to hide; EventStoreDB returns the same.
    if (!refusal && this.#headOf(name, stream) === noRevision)
      return { kind: 'wrong_version', head: noRevision }
    return refusal ?? this.#writeMetadata(name, Buffer.from(softDeletedMetadata))
  }

  /** Ends the stream permanently. */
  tombstone(name: string, expected: ExpectedVersion): WriteOutcome {
    const event = {
      id: randomUUID(),
      type: '$streamDeleted',
      isJson: false,
      metadata: new Uint8Array(),
      data: new Uint8Array(),
    }
    const refusal = this.#check(name, this.#log.stream(name), expected, [event.id])
    return refusal ?? this.#write(name, deletedRevision, [event])
  }

  /** Forgets recent ids after a rollback, because their events were not written. */
  forget(): void {
    this.#recent.clear()
  }

  /** The result if nothing has to be written, else `undefined`. */
  #check(
    name: string,
    stream: StreamState | undefined,
    expected: ExpectedVersion,
    ids: readonly string[],
  ): WriteOutcome | undefined {
    const head = this.#headOf(name, stream)
    const verdict = checkVersion(expected, ids, {
      head,
      softDeleted: isSoftDeleted(stream),
      hasMetadata: () => this.#hasEvents(metastreamOf(name)),
      idAt: (revision) => this.#log.eventAt(name, revision)?.id,
      recentRevision: (id) => this.#recent.revision(name, id),
    })
    switch (verdict.kind) {
      case 'write':
        return undefined
      case 'deleted':
        return { kind: 'deleted' }
      case 'wrong_version':
        return { kind: 'wrong_version', head }
      case 'repeated':
        return {
          kind: 'written',
          revision: verdict.revision,
          position: this.#log.eventAt(name, verdict.revision)?.position,
        }
    }
  }

  #headOf(name: string, stream: StreamState | undefined): number {
    return isTombstoned(this.#log, name, stream) ? deletedRevision : (stream?.head ?? noRevision)
  }

  #hasEvents(name: string): boolean {
    return this.#headOf(name, this.#log.stream(name)) !== noRevision
  }

  #write(name: string, firstRevision: number, events: readonly ProposedEvent[]): WriteOutcome {
    const revision = firstRevision + events.length - 1
    if (events.length === 0) return { kind: 'written', revision, position: undefined }
    const position = this.#log.insert(name, firstRevision, events, Date.now())
    for (const [index, event] of events.entries()) this.#recent.add(name, event.id, firstRevision + index)
    return { kind: 'written', revision, position }
  }

  #writeMetadata(name: string, data: Uint8Array): WriteOutcome {
    const metastream = metastreamOf(name)
    const revision = (this.#log.stream(metastream)?.head ?? noRevision) + 1
    const event = { id: randomUUID(), type: '$metadata', isJson: true, metadata: new Uint8Array(), data }
    const written = this.#write(metastream, revision, [event])
    this.#log.setRetention(name, parseRetention(data))
    return written
  }

  /** After an append to a soft-deleted stream, shows the events after the delete and none from before. */
  #restore(name: string, firstVisible: number): void {
    const metadata = this.#log.lastEvent(metastreamOf(name))?.data
    this.#writeMetadata(name, withTruncateBefore(metadata, firstVisible))
  }

  /**
   * Metadata set on a soft-deleted stream restores it too; otherwise the delete would be lost with the old
   * metadata.
   */
  #metadataWritten(metastream: string): void {
    const name = originalStreamOf(metastream)
    const stream = this.#log.stream(name)
    const last = this.#log.lastEvent(metastream)
    if (!last) return
    if (isSoftDeleted(stream)) this.#restore(name, (stream?.head ?? noRevision) + 1)
    else this.#log.setRetention(name, parseRetention(last.data))
  }
}
