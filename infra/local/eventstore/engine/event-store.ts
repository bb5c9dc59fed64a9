import type { DatabaseSync } from 'node:sqlite'
import { CommitSignal } from '../storage/commit-signal.ts'
import { openDatabase } from '../storage/database.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { EventLog } from '../storage/event-log.ts'
import { GroupCommit } from '../storage/group-commit.ts'
import { StreamWriter, type WriteOutcome } from './stream-writer.ts'
import { writeSystemEvents } from './system-events.ts'
import type { ExpectedVersion } from './version-check.ts'

/** The store without its protocol: durable writes, synchronous reads, and a signal that wakes followers. */
export class EventStore {
  readonly log: EventLog
  readonly commits = new CommitSignal()
  readonly #database: DatabaseSync
  readonly #writer: StreamWriter
  readonly #group: GroupCommit

  private constructor(database: DatabaseSync) {
    this.#database = database
    this.log = new EventLog(this.#database)
    this.#writer = new StreamWriter(this.log)
    this.#group = new GroupCommit(this.#database, {
      onCommit: () => this.commits.publish(),
      onRollback: () => {
        this.log.recover()
        this.#writer.forget()
      },
    })
  }

  static async open(directory: string): Promise<EventStore> {
    const store = new EventStore(openDatabase(directory))
    if (store.log.nextPosition === 0) await store.#group.submit(() => writeSystemEvents(store.#writer))
    return store
  }

  append(stream: string, expected: ExpectedVersion, events: readonly ProposedEvent[]): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.append(stream, expected, events))
  }

  softDelete(stream: string, expected: ExpectedVersion): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.softDelete(stream, expected))
  }

  tombstone(stream: string, expected: ExpectedVersion): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.tombstone(stream, expected))
  }

  /** What was submitted is written first. */
  close(): void {
    this.#group.flush()
    this.#database.close()
  }
}
