import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { gossipHandler, supportedMethodsHandler } from './discovery.ts'
import { EventStore } from './engine/event-store.ts'
import { gossipService, serverFeaturesService, streamsService } from './services.ts'
import { appendHandler } from './streams/append.ts'
import { batchAppendHandler } from './streams/batch-append.ts'
import { deleteHandler, tombstoneHandler } from './streams/delete.ts'
import { readHandler } from './streams/read.ts'

/** A client may send up to its batch size, and big appends are to be refused with words, not by the transport. */
const MAXIMUM_MESSAGE_BYTES = 17 * 1024 * 1024

/** How long reads that are under way may take when the store closes. */
const DRAIN_MS = 2_000

export interface EventStoreOptions {
  directory: string
  /** 0, the default, takes any free port. */
  port?: number
  /** Without TLS and passwords, the store is for this machine alone. */
  host?: '127.0.0.1'
}

export interface RunningEventStore {
  url: string
  port: number
  /** Answers what was begun, ends open subscriptions, and leaves everything on disk. */
  close(): Promise<void>
}

/** Opens the directory and serves it. It throws `DirectoryInUse` if another store has the directory. */
export async function startEventStore(options: EventStoreOptions): Promise<RunningEventStore> {
  const { directory, port: wantedPort = 0, host = '127.0.0.1' } = options
  const store = await EventStore.open(directory)
  const shutdown = new AbortController()
  let port = wantedPort
  const server = createServer(store, shutdown.signal, () => ({ host, port }))
  try {
    port = await listen(server, `${host}:${wantedPort}`)
  } catch (error) {
    store.close()
    throw error
  }
  const close = async (): Promise<void> => {
    shutdown.abort()
    await stop(server)
    store.close()
  }
  let closed: Promise<void> | undefined
  return {
    url: `esdb://${host}:${port}?tls=false`,
    port,
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

function createServer(
  store: EventStore,
  shutdown: AbortSignal,
  endpoint: () => { host: string; port: number },
): Server {
  const server = new Server({ 'grpc.max_receive_message_length': MAXIMUM_MESSAGE_BYTES })
  server.addService(streamsService, {
    read: readHandler(store, shutdown),
    append: appendHandler(store),
    batchAppend: batchAppendHandler(store, shutdown),
    delete: deleteHandler(store),
    tombstone: tombstoneHandler(store),
  })
  server.addService(gossipService, { read: gossipHandler(endpoint) })
  const services = [streamsService, gossipService, serverFeaturesService]
  server.addService(serverFeaturesService, { getSupportedMethods: supportedMethodsHandler(services) })
  return server
}

function listen(server: Server, address: string): Promise<number> {
  return promisify(server.bindAsync.bind(server))(address, ServerCredentials.createInsecure())
}

async function stop(server: Server): Promise<void> {
  const drained = new AbortController()
  const shutDown = promisify(server.tryShutdown.bind(server))()
  const timeout = delay(DRAIN_MS, undefined, { signal: drained.signal, ref: false }).then(
    () => server.forceShutdown(),
    () => undefined,
  )
  await Promise.race([shutDown, timeout])
  drained.abort()
}
