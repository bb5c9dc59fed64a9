import { EventStoreDBClient } from '@eventstore/db-client'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Channel, type ChannelOptions, type ClientReadableStream } from '@grpc/grpc-js'
import type { StoreAddress } from './address.ts'
import { type AppendCall, type Appends, createAppends } from './appends.ts'

/**
 * The client on a channel of our own to one node, which it never leaves: another node, or another connection to the
 * same one, is another client.
 * The client itself looks for no node then, and caches nothing of one that is gone.
 */
export class NodeClient extends EventStoreDBClient {
  readonly #channel: Channel

  constructor(address: StoreAddress, target: string) {
    const { insecure, user, connectionName } = address
    super({ endpoint: target, ...(connectionName !== undefined && { connectionName }) }, { insecure }, user)
    this.#channel = new Channel(target, address.channelCredentials, channelOptions(address))
  }

  /** Appends go over this instead of `appendToStream`. */
  readonly appends: Appends = createAppends(() => this.batchAppend({}))

  /** The protocol's own call for appends, for whoever writes bytes as they are. It has no deadline. */
  batchAppend(options: { requiresLeader?: boolean }): Promise<AppendCall> {
    return this.GRPCStreamCreator(streamsGrpc.StreamsClient, 'batchAppend', (streams) =>
      streams.batchAppend(...this.callArguments(options, { deadline: Number.POSITIVE_INFINITY })),
    )()
  }

  /** The protocol's own call for reads, whose events are bytes: the client's own reads decode JSON. */
  readBytes(
    request: ReadReq,
    options: { requiresLeader: boolean; deadline: number },
  ): Promise<ClientReadableStream<ReadResp>> {
    return this.GRPCStreamCreator(streamsGrpc.StreamsClient, 'read', (streams) =>
      streams.read(request, ...this.callArguments(options)),
    )()
  }

  /** Ends the connection, and the calls on it. */
  end(): void {
    this.appends.end()
    this.#channel.close()
  }

  protected override getChannel = (): Promise<Channel> => Promise.resolve(this.#channel)
  protected override handleError = (): Promise<void> => Promise.resolve()
}

/** EventStoreDB writes events of up to 16 MiB, which is more than it takes over gRPC. */
const maxReceivedBytes = 17 * 1024 * 1024

/**
 * How much of what the store sends may be on its way. HTTP/2 begins with 64 KiB, which holds up the reader of a long part of
 * the log after some 80 events.
 */
const receiveWindowBytes = 2 * 1024 * 1024

function channelOptions({ keepAlive }: StoreAddress): ChannelOptions {
  return {
    ...ownConnections,
    'grpc.max_receive_message_length': maxReceivedBytes,
    'grpc-node.flow_control_window': receiveWindowBytes,
    ...(keepAlive && {
      'grpc.keepalive_time_ms': keepAlive.intervalMs,
      'grpc.keepalive_timeout_ms': keepAlive.timeoutMs,
    }),
  }
}

/**
 * gRPC keeps the connections of all channels in one pool, and waits up to two minutes before it tries one again that
 * failed. A channel with connections of its own tries at once.
 */
export const ownConnections: ChannelOptions = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1000,
}
