import { EventStoreDBClient } from '@eventstore/db-client'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Channel, type ChannelOptions, type ClientReadableStream } from '@grpc/grpc-js'
import type { StoreAddress } from './address.ts'
import { type AppendCall, type Appends, createAppends } from './appends.ts'

/**
 * A client with its own channel to one node. It stays with that node: another node, or a new connection to the
 * same one, is a new client.
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

  /** The protocol's call for appends, which sends bytes unchanged. It has no deadline. */
  batchAppend(options: { requiresLeader?: boolean }): Promise<AppendCall> {
    return this.GRPCStreamCreator(streamsGrpc.StreamsClient, 'batchAppend', (streams) =>
      streams.batchAppend(...this.callArguments(options, { deadline: Number.POSITIVE_INFINITY })),
    )()
  }

  /** The protocol's call for reads, which returns bytes. The client's own reads decode JSON. */
  readBytes(
    request: ReadReq,
    options: { requiresLeader: boolean; deadline: number },
  ): Promise<ClientReadableStream<ReadResp>> {
    return this.GRPCStreamCreator(streamsGrpc.StreamsClient, 'read', (streams) =>
      streams.read(request, ...this.callArguments(options)),
    )()
  }

  /** Closes the connection and its calls. */
  end(): void {
    this.appends.end()
    this.#channel.close()
  }

  protected override getChannel = (): Promise<Channel> => Promise.resolve(this.#channel)
  protected override handleError = (): Promise<void> => Promise.resolve()
}

/** EventStoreDB stores events of up to 16 MiB, which exceeds the default gRPC message limit. */
const maxReceivedBytes = 17 * 1024 * 1024

/**
 * The HTTP/2 receive window. The default of 64 KiB stalls a reader of a long part of the log after some 80
 * events.
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
 * By default gRPC shares the connections of all channels, and waits up to two minutes before it retries a
 * failed one. A channel with its own connections retries at once.
 */
export const ownConnections: ChannelOptions = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1000,
}
