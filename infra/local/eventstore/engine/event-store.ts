import { randomUUID } from 'node:crypto'
import type { Durability } from '../../durability.ts'
import { type CommitSignal, createCommitSignal } from '../storage/commit-signal.ts'
import { type OpenDirectory, openDirectory } from '../storage/database.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { createEventLog, type EventLog } from '../storage/event-log.ts'
import { createGroupCommit } from '../storage/group-commit.ts'
import { createStreamWriter, type StreamWriter, type WriteOutcome } from './stream-writer.ts'
import type { ExpectedVersion } from './version-check.ts'

/** The store without its protocol: durable writes, synchronous reads, and a signal that wakes subscriptions. */
export type EventStore = {
  readonly log: EventLog
  readonly commits: CommitSignal
  append(stream: string, expected: ExpectedVersion, events: readonly ProposedEvent[]): Promise<WriteOutcome>
  /** @param isCancelled checked right before the write, at least one event-loop tick after this call */
  appendUnless(
    isCancelled: () => boolean,
    stream: string,
    expected: ExpectedVersion,
    events: readonly ProposedEvent[],
  ): Promise<WriteOutcome | { kind: 'broken_off' }>
  softDelete(stream: string, expected: ExpectedVersion): Promise<WriteOutcome>
  tombstone(stream: string, expected: ExpectedVersion): Promise<WriteOutcome>
  /** Writes pending appends, then closes the directory. */
  close(): void
}

/** @throws DirectoryInUse, EventsMissing */
export async function openEventStore(path: string, durability: Durability = 'full'): Promise<EventStore> {
  const directory = openDirectory(path, durability)
  try {
    return await createEventStore(directory)
  } catch (error) {
    directory.close()
    throw error
  }
}

async function createEventStore(directory: OpenDirectory): Promise<EventStore> {
  const { database, acknowledged } = directory
  const log = createEventLog(database)
  const writer = createStreamWriter(log)
  const commits = createCommitSignal()
  const { submit, flush } = createGroupCommit(database, {
    beforeAnswers: () => acknowledged.advance(log.nextPosition),
    onCommit: commits.publish,
    onRollback: () => {
      log.recover()
      writer.forget()
    },
  })

  directory.verify(log.nextPosition)
  if (log.nextPosition === 0) await submit(() => writeSystemEvents(writer))

  return {
    log,
    commits,
    append: (stream, expected, events) => submit(() => writer.append(stream, expected, events)),
    appendUnless: (isCancelled, stream, expected, events) =>
      submit(() => (isCancelled() ? { kind: 'broken_off' } : writer.append(stream, expected, events))),
    softDelete: (stream, expected) => submit(() => writer.softDelete(stream, expected)),
    tombstone: (stream, expected) => submit(() => writer.tombstone(stream, expected)),
    close() {
      flush()
      directory.close()
    },
  }
}

const systemEvents = [
  { stream: '$$$stats-127.0.0.1:2113', type: '$metadata', data: { $maxAge: 86_400 } },
  { stream: '$user-admin', type: '$UserCreated', data: { loginName: 'admin', groups: ['$admins'] } },
  { stream: '$users', type: '$User', data: 'admin' },
]

/**
 * Writes system events as a real node does before the first client connects, so that a reader of `$all` that
 * does not filter them fails here too.
 */
function writeSystemEvents(writer: StreamWriter): void {
  for (const { stream, type, data } of systemEvents) {
    const event = {
      id: randomUUID(),
      type,
      isJson: true,
      metadata: new Uint8Array(),
      data: Buffer.from(JSON.stringify(data)),
    }
    writer.append(stream, 'any', [event])
  }
}
