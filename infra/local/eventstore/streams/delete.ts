import { callbackify } from 'node:util'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { EventStore } from '../engine/event-store.ts'
import type { WriteOutcome } from '../engine/stream-writer.ts'
import type { ExpectedVersion } from '../engine/version-check.ts'
import { invalidArgument, streamDeleted, toRpcError, wrongExpectedVersion } from '../wire/errors.ts'
import { parseStreamName } from '../wire/fields.ts'
import { parseExpectedVersion } from './write-request.ts'

/** Soft delete: the stream can be written to again. */
export function deleteHandler(store: EventStore): handleUnaryCall<streams.DeleteReq, streams.DeleteResp> {
  const respondTo = callbackify(async (request: streams.DeleteReq) => {
    const { stream, expected } = parseOptions(request.getOptions())
    const position = deletedAt(await store.softDelete(stream, expected), stream, expected)
    return new streams.DeleteResp().setPosition(
      new streams.DeleteResp.Position().setCommitPosition(position).setPreparePosition(position),
    )
  })
  return (call, respond) =>
    respondTo(call.request, (error, response) => respond(error && toRpcError(error), response))
}

/** Hard delete: the stream name cannot be used again. */
export function tombstoneHandler(
  store: EventStore,
): handleUnaryCall<streams.TombstoneReq, streams.TombstoneResp> {
  const respondTo = callbackify(async (request: streams.TombstoneReq) => {
    const { stream, expected } = parseOptions(request.getOptions())
    const position = deletedAt(await store.tombstone(stream, expected), stream, expected)
    return new streams.TombstoneResp().setPosition(
      new streams.TombstoneResp.Position().setCommitPosition(position).setPreparePosition(position),
    )
  })
  return (call, respond) =>
    respondTo(call.request, (error, response) => respond(error && toRpcError(error), response))
}

function parseOptions(options: streams.DeleteReq.Options | streams.TombstoneReq.Options | undefined): {
  stream: string
  expected: ExpectedVersion
} {
  if (!options) throw invalidArgument('The options of the delete are missing.')
  const exact = options.hasRevision() ? options.getRevision() : undefined
  return {
    stream: parseStreamName(options.getStreamIdentifier()),
    expected: parseExpectedVersion(options, exact),
  }
}

/** The position of the delete event, as sent. */
function deletedAt(outcome: WriteOutcome, stream: string, expected: ExpectedVersion): string {
  switch (outcome.kind) {
    case 'written':
      return String(outcome.position ?? 0)
    case 'wrong_version':
      throw wrongExpectedVersion(stream, expected, outcome.head)
    case 'deleted':
      throw streamDeleted(stream)
  }
}
