import { randomUUID } from 'node:crypto'
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { appendRequest } from './append-request.ts'
import type { Connection } from './connection.ts'
import type { RawEventToWrite } from './raw-event.ts'
import { LedgerUnavailable } from './unavailable.ts'

/**
 * Appends that are sent one after another without waiting for answers. The store writes those of one call in the order
 * in which they were sent.
 */
export type RawAppends = {
  /**
   * Sends events of one stream whose revisions follow each other. They are written together or not at all, at exactly
   * these revisions; the same events sent again are acknowledged and not written again.
   * @returns their last position, once the store has acknowledged them and everything that was sent before
   * @throws WrongRevision when the stream stands elsewhere, LedgerUnavailable when the store does not answer, fails, or
   *   has not kept the order. Whichever it was, every later append fails too, and what was sent after it may have been
   *   written without it: look at the log before going on
   */
  append(events: readonly RawEventToWrite[]): Promise<bigint>
  close(): void
}

/** The stream does not end where the events begin: somebody else has written there. */
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

/** Opens a call for appends. @throws LedgerUnavailable */
export async function openRawAppends(connection: Connection): Promise<RawAppends> {
  const { node, call } = await connection.call(noAppends, connectTimeoutMs, async (node) => ({
    node,
    call: await node.client.batchAppend({ requiresLeader: true }),
  }))
  /** In the order of sending. */
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
    // What it was ended for is known already.
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
      // Whoever waits hears of it; they may only begin to wait after it has failed.
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
