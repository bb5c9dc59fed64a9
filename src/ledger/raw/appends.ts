import { randomUUID } from 'node:crypto'
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { appendRequest } from '../connection/appends.ts'
import type { Connection } from '../connection/connection.ts'
import { LedgerUnavailable } from '../connection/unavailable.ts'
import type { RawEventToWrite } from './event.ts'

/**
 * Sends appends one after another without waiting for answers. The store writes the appends of one call in the
 * order in which they were sent.
 */
export type RawAppends = {
  /**
   * Sends events of one stream with consecutive revisions. They are written together or not at all, at exactly
   * these revisions. If the same events are sent again, they are acknowledged and not written again.
   * @returns the position of the last one, once the store has acknowledged these events and all sent before
   * @throws WrongRevision when the stream is at another revision; LedgerUnavailable when the store does not
   *   answer, fails, or did not keep the order. After an error every later append fails as well. Events sent
   *   after the failed ones may still have been written: compare the log before continuing
   */
  append(events: readonly RawEventToWrite[]): Promise<bigint>
  close(): void
}

/** The stream does not end where the events begin, because another process has appended to it. */
export class WrongRevision extends Error {
  constructor(stream: string) {
    super(`${stream} does not stand at the revision before the one to write`)
    this.name = 'WrongRevision'
  }
}

const noAppends = 'the event store does not take appends'
const connectTimeoutMs = 10_000
const answerTimeoutMs = 30_000

type Pending = {
  stream: string
  position: bigint | undefined
  resolve: (position: bigint) => void
  reject: (error: Error) => void
}

/** Opens a call for appends. @throws LedgerUnavailable when no node takes appends in time */
export async function openRawAppends(connection: Connection): Promise<RawAppends> {
  const { node, call } = await connection.call(noAppends, connectTimeoutMs, async (node) => ({
    node,
    call: await node.client.batchAppend({ requiresLeader: true }),
  }))
  /** In the order in which they were sent. */
  const pending = new Map<string, Pending>()
  let broken: Error | undefined
  let lastPosition = -1n
  let lastAnswer = performance.now()

  function fail(error: Error): void {
    broken ??= error
    clearInterval(watch)
    for (const { reject } of pending.values()) reject(broken)
    pending.clear()
    call.cancel()
  }

  function acknowledge(): void {
    for (const [id, { stream, position, resolve }] of pending) {
      if (position === undefined) return
      if (position <= lastPosition) {
        fail(new LedgerUnavailable(`the event store wrote ${stream} before what was sent earlier`))
        return
      }
      lastPosition = position
      pending.delete(id)
      resolve(position)
    }
  }

  const watch = setInterval(() => {
    if (pending.size === 0 || performance.now() - lastAnswer < answerTimeoutMs) return
    fail(new LedgerUnavailable('the event store does not acknowledge what it was sent'))
  }, 1000).unref()

  call.on('data', (answer: streams.BatchAppendResp) => {
    lastAnswer = performance.now()
    node.answered()
    const waiting = pending.get(parseUUID(answer.getCorrelationId()) ?? '')
    const error = answer.getError()
    if (error) fail(failureOf(waiting?.stream ?? 'a stream', error))
    else if (waiting) {
      waiting.position = BigInt(answer.getSuccess()?.getPosition()?.getCommitPosition() ?? '-1')
      acknowledge()
    }
  })
  call.on('error', (error) => {
    // The reason for the end is already known.
    if (broken) return
    const failure = connection.reportFailure(noAppends, node, error)
    fail(failure instanceof Error ? failure : error)
  })
  call.on('end', () => fail(new LedgerUnavailable('the event store ended the connection')))

  return {
    append(events) {
      const [first] = events
      if (!first) return Promise.reject(new Error('an append holds at least one event'))
      if (broken) return Promise.reject(broken)
      if (pending.size === 0) lastAnswer = performance.now()
      const id = randomUUID()
      const { promise, resolve, reject } = Promise.withResolvers<bigint>()
      // The caller may start to wait after the failure, so this avoids an unhandled rejection.
      promise.catch(() => undefined)
      pending.set(id, { stream: first.stream, position: undefined, resolve, reject })
      const { stream, revision } = first
      call.write(appendRequest(id, stream, revision === 0 ? undefined : revision - 1, events))
      return promise
    },
    close: () => fail(new LedgerUnavailable('the appends were closed')),
  }
}

function failureOf(
  stream: string,
  error: NonNullable<ReturnType<streams.BatchAppendResp['getError']>>,
): Error {
  return error.getDetails()?.getTypeUrl().endsWith('.WrongExpectedVersion')
    ? new WrongRevision(stream)
    : new LedgerUnavailable(`the event store did not write ${stream}: ${error.getMessage()}`)
}
