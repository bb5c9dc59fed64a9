import { randomUUID } from 'node:crypto'
import { UnknownError } from '@eventstore/db-client'
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js'
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import type status from '@eventstore/db-client/generated/status_pb.js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import { TimeoutError } from '../async/timeout.ts'
import { appendRequest, type EventToAppend } from './append-request.ts'
import { LedgerUnavailable } from './unavailable.ts'

export type AppendCall = ClientDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

type Appended = { revision: number; position: bigint | undefined }

/** Appends over one connection, all on one call. */
export type Appends = {
  /**
   * @param expected the revision of the stream's last event; undefined: there is no such stream
   * @throws what the store refuses with, as the client's error; TimeoutError; what the call ends with
   */
  append(
    stream: string,
    expected: number | undefined,
    events: readonly EventToAppend[],
    limitMs: number,
  ): Promise<Appended>
  /** Ends the call, and the appends that wait on it. */
  end(): void
}

type Pending = {
  stream: string
  call: AppendCall
  resolve: (appended: Appended) => void
  reject: (error: Error) => void
}

/**
 * Appends as the client's own batch append sends them, but that these know no other connection's: the client answers from
 * a table that all clients of a process share, ends every append in it when one connection breaks, and crashes on an answer
 * that then comes for another. Nor is the server told a deadline, which would be a moment of this machine's clock.
 * @param open begins the call; asked again when it has ended
 */
export function createAppends(open: () => Promise<AppendCall>): Appends {
  const pending = new Map<string, Pending>()
  let current: Promise<AppendCall> | undefined

  function end(ended: AppendCall, opening: Promise<AppendCall>, error: Error): void {
    if (current === opening) current = undefined
    for (const { call, reject } of pending.values()) if (call === ended) reject(error)
  }

  function begin(): Promise<AppendCall> {
    const opening = open().then((call) => {
      call.on('data', (answer: streams.BatchAppendResp) => {
        const waiting = pending.get(parseUUID(answer.getCorrelationId()) ?? '')
        // Nobody waits any more for an answer that comes late.
        if (waiting) settle(waiting, answer)
      })
      call.on('error', (error: Error) => end(call, opening, error))
      call.on('end', () =>
        end(call, opening, new LedgerUnavailable('the call has ended', undefined, 'failed')),
      )
      return call
    })
    opening.catch(() => {
      if (current === opening) current = undefined
    })
    return opening
  }

  return {
    async append(stream, expected, events, limitMs) {
      current ??= begin()
      const call = await current
      const id = randomUUID()
      const { promise, resolve, reject } = Promise.withResolvers<Appended>()
      const timer = setTimeout(() => reject(new TimeoutError(limitMs)), limitMs)
      pending.set(id, { stream, call, resolve, reject })
      call.write(appendRequest(id, stream, expected, events))
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        pending.delete(id)
      }
    },
    end: () => void current?.then((call) => call.cancel()).catch(() => undefined),
  }
}

function settle({ stream, resolve, reject }: Pending, answer: streams.BatchAppendResp): void {
  const error = answer.getError()
  const success = answer.getSuccess()
  if (error) reject(refusalOf(error, stream))
  else if (success) {
    const position = success.getPosition()?.getCommitPosition()
    resolve({
      revision: Number(success.getCurrentRevision()),
      position: position === undefined ? undefined : BigInt(position),
    })
  } else
    reject(new LedgerUnavailable('the event store returned an answer without a result', undefined, 'failed'))
}

/** The client's error for it, which it makes of the details; not every node sends some. */
function refusalOf(error: status.Status, stream: string): Error {
  if (error.getDetails()) return unpackToCommandError(error, stream)
  return new UnknownError(undefined, error.getMessage())
}
