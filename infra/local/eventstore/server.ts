import { chmodSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { Durability } from '../durability.ts'
import { makeSocketDirectory, removeSocketDirectory } from '../socket-directory.ts'
import { gossipHandler, supportedMethodsHandler } from './discovery.ts'
import { type EventStore, openEventStore } from './engine/event-store.ts'
import { widenAppendWindows } from './receive-window.ts'
import { appendHandler } from './streams/append.ts'
import { batchAppendHandler } from './streams/batch-append.ts'
import { deleteHandler, tombstoneHandler } from './streams/delete.ts'
import { readHandler } from './streams/read.ts'

/**
 * A client may send up to its batch size, and too large appends should get an error of the store instead of the
 * transport.
 */
const maximumMessageBytes = 17 * 1024 * 1024

/** How long running reads may take when the store closes. */
const drainMs = 2_000

const socketName = 'store'

export type EventStoreOptions = {
  directory: string
  /**
   * Listens on this port of the loopback interface, 0 for any free one, instead of on a socket. For tests:
   * there are no passwords, so every user of the machine can connect.
   */
  port?: number | undefined
  durability?: Durability
}

export type RunningEventStore = {
  /** `unix:<path>`, or `esdb://…` for a store on a port. */
  url: string
  /** Only for a store on a port. */
  port?: number
  /** Answers pending requests, ends subscriptions, and writes everything to disk. */
  close(): Promise<void>
}

/** The server's address, and the clean-up after it has closed. */
type Binding = {
  url: string
  port?: number
  release(): void
}

/**
 * Opens the directory and serves it on a unix socket that only this user can reach.
 *
 * @throws DirectoryInUse when another store uses the directory
 */
export async function startEventStore({
  directory,
  port,
  durability,
}: EventStoreOptions): Promise<RunningEventStore> {
  const store = await openEventStore(directory, durability)
  const shutdown = new AbortController()
  let bound: Binding
  let server: Server
  try {
    if (port === undefined) {
      server = createServer(store, shutdown.signal)
      bound = await bindSocket(server, directory)
    } else {
      const endpoint = { host: '127.0.0.1', port }
      server = createServer(store, shutdown.signal, endpoint)
      bound = await bindPort(server, endpoint)
    }
  } catch (error) {
    store.close()
    throw error
  }
  const narrow = widenAppendWindows()
  const close = async (): Promise<void> => {
    shutdown.abort()
    await stop(server)
    narrow()
    // Before the directory is unlocked, because the next store uses the same socket.
    bound.release()
    store.close()
  }
  let closed: Promise<void> | undefined
  return {
    url: bound.url,
    ...(bound.port !== undefined && { port: bound.port }),
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

/** Responses of reads and batch appends are encoded by hand before gRPC gets them. */
const streamsService = {
  ...streamsGrpc.StreamsService,
  read: { ...streamsGrpc.StreamsService.read, responseSerialize: encoded },
  batchAppend: { ...streamsGrpc.StreamsService.batchAppend, responseSerialize: encoded },
}

function encoded(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength)
}

/** @param endpoint the address that cluster discovery returns; absent for a socket, which has no discovery */
function createServer(
  store: EventStore,
  shutdown: AbortSignal,
  endpoint?: Readonly<{ host: string; port: number }>,
): Server {
  const server = new Server({ 'grpc.max_receive_message_length': maximumMessageBytes })
  server.addService(streamsService, {
    read: readHandler(store, shutdown),
    append: appendHandler(store),
    batchAppend: batchAppendHandler(store, shutdown),
    delete: deleteHandler(store),
    tombstone: tombstoneHandler(store),
  })
  if (endpoint) server.addService(gossipGrpc.GossipService, { read: gossipHandler(endpoint) })
  const services = [
    streamsService,
    ...(endpoint ? [gossipGrpc.GossipService] : []),
    featuresGrpc.ServerFeaturesService,
  ]
  server.addService(featuresGrpc.ServerFeaturesService, {
    getSupportedMethods: supportedMethodsHandler(services),
  })
  return server
}

async function bindSocket(server: Server, directory: string): Promise<Binding> {
  const socketDirectory = makeSocketDirectory(realpathSync(directory), socketName)
  const path = join(socketDirectory, socketName)
  // Left by a killed store: this process has locked the directory, so no other store is listening.
  rmSync(path, { force: true })
  await listen(server, `unix:${path}`)
  chmodSync(path, 0o600)
  const release = (): void => {
    rmSync(path, { force: true })
    removeSocketDirectory(socketDirectory)
  }
  return { url: `unix:${path}`, release }
}

/** Sets `endpoint.port` to the port chosen by the system. */
async function bindPort(server: Server, endpoint: { host: string; port: number }): Promise<Binding> {
  const { host } = endpoint
  const port = await listen(server, `${host}:${endpoint.port}`)
  endpoint.port = port
  return { url: `esdb://${host}:${port}?tls=false`, port, release: () => undefined }
}

function listen(server: Server, address: string): Promise<number> {
  return promisify(server.bindAsync.bind(server))(address, ServerCredentials.createInsecure())
}

async function stop(server: Server): Promise<void> {
  const drained = new AbortController()
  const shutDown = promisify(server.tryShutdown.bind(server))()
  const timeout = delay(drainMs, undefined, { signal: drained.signal, ref: false }).then(
    () => server.forceShutdown(),
    () => undefined,
  )
  await Promise.race([shutDown, timeout])
  drained.abort()
}
