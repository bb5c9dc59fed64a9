import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { handleBidiStreamingCall, ServerDuplexStream } from '@grpc/grpc-js'
import type { EventStore } from '../engine/event-store.ts'
import type { ExpectedVersion } from '../engine/version-check.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { type BatchAppendResult, encodeBatchAppendReply } from '../wire/batch-append-response.ts'
import { shuttingDown, toRpcError } from '../wire/errors.ts'
import { parseStreamName, parseUuid } from '../wire/identifiers.ts'
import { parseExpectedVersion } from './expected-version.ts'
import { maximumAppendBytes, parseProposedEvent, proposedBytes } from './proposed-event.ts'

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
  return (call) => new BatchAppendCall(call, store, shutdown).serve()
}

/**
 * All appends of a client, multiplexed over one call by correlation id. A client crashes on a second reply to
 * the same id, so every append is answered once, after its final part.
 */
class BatchAppendCall {
  readonly #call: Call
  readonly #store: EventStore
  readonly #shutdown: AbortSignal
  readonly #partial = new Map<string, Proposal | Refusal>()
  #unanswered = 0
  #closing = false

  constructor(call: Call, store: EventStore, shutdown: AbortSignal) {
    this.#call = call
    this.#store = store
    this.#shutdown = shutdown
  }

  serve(): void {
    const close = (): void => this.#close()
    this.#call.on('data', (part: BatchAppendReq) => this.#receive(part))
    this.#call.once('end', close)
    this.#shutdown.addEventListener('abort', close)
    this.#call.once('close', () => this.#shutdown.removeEventListener('abort', close))
  }

  #receive(part: BatchAppendReq): void {
    if (this.#closing) return
    try {
      const correlationId = parseUuid(part.getCorrelationId())
      const proposal = addPart(this.#partial.get(correlationId), part)
      if (part.getIsFinal()) {
        this.#partial.delete(correlationId)
        void this.#answer(correlationId, proposal)
      } else {
        this.#partial.set(correlationId, proposal)
      }
    } catch (error) {
      this.#call.emit('error', toRpcError(error))
    }
  }

  async #answer(correlationId: string, proposal: Proposal | Refusal): Promise<void> {
    this.#unanswered += 1
    const result = 'refused' in proposal ? proposal.refused : await this.#append(proposal)
    this.#unanswered -= 1
    if (!this.#call.writable) return
    const reply = encodeBatchAppendReply({ correlationId, stream: proposal.stream, result })
    this.#call.write(reply)
    this.#endWhenAnswered()
  }

  async #append({ stream, expected, deadlineMs, events, bytes }: Proposal): Promise<BatchAppendResult> {
    if (bytes > maximumAppendBytes) return { kind: 'too_large', maximumBytes: maximumAppendBytes }
    if (deadlineMs < Date.now()) return { kind: 'timeout' }
    try {
      const outcome = await this.#store.append(stream, expected, events)
      return outcome.kind === 'wrong_version' ? { ...outcome, expected } : outcome
    } catch (error) {
      return { kind: 'unknown', message: toRpcError(error).message }
    }
  }

  #close(): void {
    this.#closing = true
    this.#endWhenAnswered()
  }

  #endWhenAnswered(): void {
    if (!this.#closing || this.#unanswered > 0 || !this.#call.writable) return
    if (this.#shutdown.aborted) this.#call.emit('error', shuttingDown())
    else this.#call.end()
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
