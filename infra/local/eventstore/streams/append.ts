import { callbackify } from 'node:util'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { handleClientStreamingCall, ServerReadableStream } from '@grpc/grpc-js'
import type { EventStore } from '../engine/event-store.ts'
import type { ExpectedVersion } from '../engine/version-check.ts'
import { noRevision, type ProposedEvent } from '../storage/event.ts'
import {
  callCancelled,
  invalidArgument,
  maximumAppendSizeExceeded,
  streamDeleted,
  toRpcError,
} from '../wire/errors.ts'
import { parseStreamName } from '../wire/fields.ts'
import {
  maximumAppendBytes,
  parseExpectedVersion,
  parseProposedEvent,
  proposedBytes,
} from './write-request.ts'

type Call = ServerReadableStream<streams.AppendReq, streams.AppendResp>

/** The classic append, one call per append, which clients use when a call has its own credentials. */
export function appendHandler(
  store: EventStore,
): handleClientStreamingCall<streams.AppendReq, streams.AppendResp> {
  const append = callbackify((call: Call) => serve(store, call))
  return (call, respond) =>
    append(call, (error, response) => {
      if (error) respond(toRpcError(error))
      else respond(null, response)
    })
}

async function serve(store: EventStore, call: Call): Promise<streams.AppendResp> {
  const { stream, expected, events } = await receive(call)
  // A call with a broken connection ends like a complete one, and is marked as cancelled a moment later. It may
  // have received only the first of several events that belong together.
  const outcome = await store.appendUnless(() => call.cancelled, stream, expected, events)
  switch (outcome.kind) {
    case 'written':
      return success(outcome.revision, outcome.position)
    case 'wrong_version':
      return wrongVersion(expected, outcome.head)
    case 'deleted':
      throw streamDeleted(stream)
    case 'broken_off':
      throw callCancelled()
  }
}

async function receive(
  call: Call,
): Promise<{ stream: string; expected: ExpectedVersion; events: ProposedEvent[] }> {
  let options: streams.AppendReq.Options | undefined
  const events: ProposedEvent[] = []
  let bytes = 0
  for await (const request of requests(call)) {
    options ??= request.getOptions()
    const message = request.getProposedMessage()
    if (!message) continue
    const event = parseProposedEvent(message)
    events.push(event)
    bytes += proposedBytes(event)
    if (bytes > maximumAppendBytes) throw maximumAppendSizeExceeded(maximumAppendBytes)
  }
  if (!options) throw invalidArgument('The options of the append are missing.')
  const exact = options.hasRevision() ? options.getRevision() : undefined
  return {
    stream: parseStreamName(options.getStreamIdentifier()),
    expected: parseExpectedVersion(options, exact),
    events,
  }
}

function requests(call: Call): AsyncIterable<streams.AppendReq> {
  return call.iterator({ destroyOnReturn: false })
}

function success(revision: number, position: number | undefined): streams.AppendResp {
  const message = new streams.AppendResp.Success()
  if (revision === noRevision) message.setNoStream(new shared.Empty())
  else message.setCurrentRevision(String(revision))
  if (position === undefined) {
    message.setNoPosition(new shared.Empty())
  } else {
    const at = new streams.AppendResp.Position()
    at.setCommitPosition(String(position))
    at.setPreparePosition(String(position))
    message.setPosition(at)
  }
  return new streams.AppendResp().setSuccess(message)
}

function wrongVersion(expected: ExpectedVersion, head: number): streams.AppendResp {
  const message = new streams.AppendResp.WrongExpectedVersion()
  if (head === noRevision) message.setCurrentNoStream(new shared.Empty())
  else message.setCurrentRevision(String(head))
  switch (expected) {
    case 'any':
      message.setExpectedAny(new shared.Empty())
      break
    case 'no_stream':
      message.setExpectedNoStream(new shared.Empty())
      break
    case 'stream_exists':
      message.setExpectedStreamExists(new shared.Empty())
      break
    default:
      message.setExpectedRevision(String(expected))
  }
  return new streams.AppendResp().setWrongExpectedVersion(message)
}
