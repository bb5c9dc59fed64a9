import { CommitSignal } from '../storage/commit-signal.ts'
import { type OpenDirectory, openDirectory } from '../storage/database.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { EventLog } from '../storage/event-log.ts'
import { GroupCommit } from '../storage/group-commit.ts'
import { StreamWriter, type WriteOutcome } from './stream-writer.ts'
import { writeSystemEvents } from './system-events.ts'
import type { ExpectedVersion } from './version-check.ts'

/** The store without its protocol: durable writes, synchronous reads, and a signal that wakes subscriptions. */
export class EventStore {
  readonly log: EventLog
  readonly commits = new CommitSignal()
  readonly #directory: OpenDirectory
  readonly #writer: StreamWriter
  readonly #group: GroupCommit

  private constructor(directory: OpenDirectory) {
    const { database, acknowledged } = directory
    this.#directory = directory
    this.log = new EventLog(database)
    this.#writer = new StreamWriter(this.log)
    this.#group = new GroupCommit(database, {
      beforeAnswers: () => acknowledged.advance(this.log.nextPosition),
      onCommit: () => this.commits.publish(),
      onRollback: () => {
        this.log.recover()
        this.#writer.forget()
      },
    })
  }

  /** @throws DirectoryInUse, EventsMissing */
  static async open(path: string): Promise<EventStore> {
    const directory = openDirectory(path)
    try {
      const store = new EventStore(directory)
      directory.verify(store.log.nextPosition)
      if (store.log.nextPosition === 0) await store.#group.submit(() => writeSystemEvents(store.#writer))
      return store
    } catch (error) {
      directory.close()
      throw error
    }
  }

  append(stream: string, expected: ExpectedVersion, events: readonly ProposedEvent[]): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.append(stream, expected, events))
  }

  /** @param isCancelled checked right before the write, at least one event-loop tick after this call */
  appendUnless(
    isCancelled: () => boolean,
    stream: string,
    expected: ExpectedVersion,
    events: readonly ProposedEvent[],
  ): Promise<WriteOutcome | { kind: 'broken_off' }> {
    return this.#group.submit(() =>
      isCancelled() ? { kind: 'broken_off' } : this.#writer.append(stream, expected, events),
    )
  }

  softDelete(stream: string, expected: ExpectedVersion): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.softDelete(stream, expected))
  }

  tombstone(stream: string, expected: ExpectedVersion): Promise<WriteOutcome> {
    return this.#group.submit(() => this.#writer.tombstone(stream, expected))
  }

  /** Writes pending appends, then closes the directory. */
  close(): void {
    this.#group.flush()
    this.#directory.close()
  }
}
