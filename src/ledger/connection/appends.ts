import { randomUUID } from 'node:crypto'
import { UnknownError } from '@eventstore/db-client'
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js'
import { createStreamIdentifier } from '@eventstore/db-client/dist/utils/grpcStreamIdentifier.js'
import { createUUID, parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import type status from '@eventstore/db-client/generated/status_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ClientDuplexStream } from '@grpc/grpc-js'
import { TimeoutError } from '../../async/timeout.ts'
import { LedgerUnavailable } from './unavailable.ts'

export type AppendCall = ClientDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>

type Appended = { revision: number; position: bigint | undefined }

/** Sends all appends of one connection over one call. */
export type Appends = {
  /**
   * @param expected the revision of the stream's last event; undefined when the stream must not exist
   * @throws the client's error when the store refuses the append; TimeoutError after limitMs; the error that
   *   ended the call
   */
  append(
    stream: string,
    expected: number | undefined,
    events: readonly EventToAppend[],
    limitMs: number,
  ): Promise<Appended>
  /** Cancels the call; its pending appends fail. */
  end(): void
}

type Pending = {
  stream: string
  call: AppendCall
  resolve: (appended: Appended) => void
  reject: (error: Error) => void
}

/**
 * Sends batch appends as the client does, but keeps the pending ones per connection. The client keeps them in
 * one table for all connections of the process: when one connection breaks it fails the appends of all, and
 * crashes on an answer that arrives later. No deadline is sent, because it would be a time of this machine's
 * clock.
 * @param open opens the call; called again after the call has ended
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
        // A late answer has no pending append any more.
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

/** Builds the client's error from the details, which not every node sends. */
function refusalOf(error: status.Status, stream: string): Error {
  if (error.getDetails()) return unpackToCommandError(error, stream)
  return new UnknownError(undefined, error.getMessage())
}

/** An event as it is sent to the store. */
export type EventToAppend = {
  id: string
  type: string
  /** Whether the content type is JSON; otherwise it is plain bytes. */
  isJson: boolean
  data: Uint8Array
  metadata: Uint8Array
}

/**
 * Builds one append of a batch append call. It has no deadline, because a deadline is a time of the store's
 * clock. A late append is harmless: it writes the same events at the same revision.
 * @param id the correlation id of the answer
 * @param expected the revision of the stream's last event; undefined when the stream must not exist
 */
export function appendRequest(
  id: string,
  stream: string,
  expected: number | undefined,
  events: readonly EventToAppend[],
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options()
  options.setStreamIdentifier(createStreamIdentifier(stream))
  if (expected === undefined) options.setNoStream(new shared.Empty())
  else options.setStreamPosition(String(expected))
  const request = new streams.BatchAppendReq()
  request.setCorrelationId(createUUID(id))
  request.setOptions(options)
  request.setIsFinal(true)
  request.setProposedMessagesList(events.map(messageOf))
  return request
}

function messageOf({
  id,
  type,
  isJson,
  data,
  metadata,
}: EventToAppend): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage()
  message.setId(createUUID(id))
  message.getMetadataMap().set('type', type)
  message.getMetadataMap().set('content-type', isJson ? 'application/json' : 'application/octet-stream')
  message.setData(data)
  message.setCustomMetadata(metadata)
  return message
}
