import { createStreamIdentifier } from '@eventstore/db-client/dist/utils/grpcStreamIdentifier.js'
import { createUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'

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
