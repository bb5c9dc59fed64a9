import shared from '@eventstore/db-client/generated/shared_pb.js'
import grpcStreams from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { credentials } from '@grpc/grpc-js'
import { collect } from './event-store.ts'

export interface FilteredRead {
  streamPrefixes?: string[]
  streamRegex?: string
  typePrefixes?: string[]
  typeRegex?: string
  backwards?: boolean
  maxCount?: number
}

/**
 * Reads `$all` through a filter. The server supports this, but this client does not, so the request is built by
 * hand.
 */
export class FilteredReader {
  readonly #client: InstanceType<typeof grpcStreams.StreamsClient>

  constructor(url: string) {
    this.#client = new grpcStreams.StreamsClient(new URL(url).host, credentials.createInsecure())
  }

  /** The events as `revision@stream`. */
  async read(options: FilteredRead): Promise<string[]> {
    const responses: AsyncIterable<streams.ReadResp> = this.#client.read(toRequest(options))
    return (await collect(responses)).flatMap((response) => {
      const event = response.getEvent()?.getEvent()
      if (!event) return []
      const stream = Buffer.from(event.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
      return [`${event.getStreamRevision()}@${stream}`]
    })
  }

  close(): void {
    this.#client.close()
  }
}

function toRequest({ backwards = false, maxCount = 1_000, ...filter }: FilteredRead): streams.ReadReq {
  const { Options } = streams.ReadReq
  const all = new Options.AllOptions()
  if (backwards) all.setEnd(new shared.Empty())
  else all.setStart(new shared.Empty())
  const { FORWARDS, BACKWARDS } = Options.ReadDirection
  return new streams.ReadReq().setOptions(
    new Options()
      .setAll(all)
      .setReadDirection(backwards ? BACKWARDS : FORWARDS)
      .setCount(String(maxCount))
      .setFilter(toFilter(filter))
      .setUuidOption(new Options.UUIDOption().setString(new shared.Empty())),
  )
}

function toFilter(filter: FilteredRead): streams.ReadReq.Options.FilterOptions {
  const { FilterOptions } = streams.ReadReq.Options
  const byStream = filter.streamPrefixes !== undefined || filter.streamRegex !== undefined
  const expression = new FilterOptions.Expression()
    .setPrefixList(filter.streamPrefixes ?? filter.typePrefixes ?? [])
    .setRegex(filter.streamRegex ?? filter.typeRegex ?? '')
  const options = new FilterOptions().setCount(new shared.Empty()).setCheckpointintervalmultiplier(1)
  return byStream ? options.setStreamIdentifier(expression) : options.setEventType(expression)
}
