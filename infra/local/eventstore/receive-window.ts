import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Session } from 'node:http2'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'

/**
 * The HTTP/2 receive window of a batch append call. The default of 64 KiB, some 80 events, stalls a client that
 * sends more without waiting, so each flush to disk is shared by few appends.
 */
const appendWindowBytes = 2 * 1024 * 1024

const widened = new WeakSet<ServerHttp2Session>()

/**
 * Widens the window of each connection with appends, until the returned function is called. The gRPC server has
 * no setting for it, but Node publishes each new HTTP/2 stream before its request is handled.
 */
export function widenAppendWindows(): () => void {
  subscribe(streamStart, widen)
  return () => unsubscribe(streamStart, widen)
}

const streamStart = 'http2.server.stream.start'

function widen(message: unknown): void {
  if (!isStart(message) || message.headers[':path'] !== streamsGrpc.StreamsService.batchAppend.path) return
  const { session } = message.stream
  if (!session || widened.has(session)) return
  widened.add(session)
  session.settings({ initialWindowSize: appendWindowBytes })
  session.setLocalWindowSize(appendWindowBytes)
}

type Start = { stream: { session: ServerHttp2Session | undefined }; headers: Record<string, unknown> }

const isStart = (message: unknown): message is Start =>
  typeof message === 'object' && message !== null && 'stream' in message && 'headers' in message
