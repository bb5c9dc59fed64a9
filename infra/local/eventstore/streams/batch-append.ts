import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js'
import type { EventStore } from '../engine/event-store.ts'
import type { ExpectedVersion } from '../engine/version-check.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { type BatchAppendResult, encodeBatchAppendReply } from '../wire/batch-append-response.ts'
import { shuttingDown, toRpcError } from '../wire/errors.ts'
import { parseStreamName, parseUuid } from '../wire/fields.ts'
import {
  maximumAppendBytes,
  parseExpectedVersion,
  parseProposedEvent,
  proposedBytes,
} from './write-request.ts'

/** An append that may have further parts. */
type Proposal = {
  stream: string
  expected: ExpectedVersion
  deadlineMs: number
  events: ProposedEvent[]
  bytes: number
}

/** An append that was refused early. Its other parts are still coming, and it must be answered only once. */
type Refusal = {
  stream: string
  refused: BatchAppendResult
}

type Call = ServerDuplexStream<BatchAppendReq, Uint8Array>

export function batchAppendHandler(
  store: EventStore,
  shutdown: AbortSignal,
): handleBidiStreamingCall<BatchAppendReq, Uint8Array> {
  return (call) => serve(store, call, shutdown)
}

/**
 * All appends of a client, multiplexed over one call by correlation id. A client crashes on a second reply to
 * the same id, so every append is answered once, after its final part.
 */
function serve(store: EventStore, call: Call, shutdown: AbortSignal): void {
  const partial = new Map<string, Proposal | Refusal>()
  let unanswered = 0
  let closing = false

  function receive(part: BatchAppendReq): void {
    if (closing) return
    try {
      const correlationId = parseUuid(part.getCorrelationId())
      const proposal = addPart(partial.get(correlationId), part)
      if (part.getIsFinal()) {
        partial.delete(correlationId)
        void answer(correlationId, proposal)
      } else {
        partial.set(correlationId, proposal)
      }
    } catch (error) {
      call.emit('error', toRpcError(error))
    }
  }

  async function answer(correlationId: string, proposal: Proposal | Refusal): Promise<void> {
    unanswered += 1
    const result = 'refused' in proposal ? proposal.refused : await append(store, proposal)
    unanswered -= 1
    if (!call.writable) return
    call.write(encodeBatchAppendReply({ correlationId, stream: proposal.stream, result }))
    endWhenAnswered()
  }

  function close(): void {
    closing = true
    endWhenAnswered()
  }

  function endWhenAnswered(): void {
    if (!closing || unanswered > 0 || !call.writable) return
    if (shutdown.aborted) call.emit('error', shuttingDown())
    else call.end()
  }

  call.on('data', receive)
  call.once('end', close)
  shutdown.addEventListener('abort', close)
  call.once('close', () => shutdown.removeEventListener('abort', close))
}

async function append(
  store: EventStore,
  { stream, expected, deadlineMs, events, bytes }: Proposal,
): Promise<BatchAppendResult> {
  if (bytes > maximumAppendBytes) return { kind: 'too_large', maximumBytes: maximumAppendBytes }
  if (deadlineMs < Date.now()) return { kind: 'timeout' }
  try {
    const outcome = await store.append(stream, expected, events)
    return outcome.kind === 'wrong_version' ? { ...outcome, expected } : outcome
  } catch (error) {
    return { kind: 'unknown', message: toRpcError(error).message }
  }
}

function addPart(earlier: Proposal | Refusal | undefined, part: BatchAppendReq): Proposal | Refusal {
  if (earlier && 'refused' in earlier) return earlier
  let stream = earlier?.stream ?? ''
  try {
    const proposal = earlier ?? parseOptions(part)
    stream = proposal.stream
    // Before its events are counted, as in EventStoreDB.
    if (!earlier && proposal.deadlineMs <= Date.now()) return { stream, refused: { kind: 'timeout' } }
    for (const message of part.getProposedMessagesList()) {
      const event = parseProposedEvent(message)
      proposal.bytes += proposedBytes(event)
      // An append that exceeds the maximum is refused at its end, so its events need not be kept until then.
      if (proposal.bytes <= maximumAppendBytes) proposal.events.push(event)
    }
    return proposal
  } catch (error) {
    return { stream, refused: { kind: 'bad_request', message: toRpcError(error).message } }
  }
}

function parseOptions(part: BatchAppendReq): Proposal {
  const options = part.getOptions()
  if (!options) throw new Error('The options of the append are missing.')
  const exact = options.hasStreamPosition() ? options.getStreamPosition() : undefined
  return {
    stream: parseStreamName(options.getStreamIdentifier()),
    expected: parseExpectedVersion(options, exact),
    deadlineMs: options.getDeadline()?.toDate().getTime() ?? Number.POSITIVE_INFINITY,
    events: [],
    bytes: 0,
  }
}
