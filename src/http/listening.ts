import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, Server, type ServerOpts, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { plainAddress } from '../limits/address.ts'

export type Listening = {
  /**
   * Takes no new connections. Closes each open one with its next response, or after the idle time that its client
   * was promised, so that no client sends a request on a closed connection.
   * @param timeoutMs idle connections are closed after this time at the latest
   */
  drain(timeoutMs: number): Promise<void>
  /** Takes no new connections, finishes the running requests and closes the application. */
  close(): Promise<void>
}

/** How often the number of open connections is polled. */
const pollMs = 50
/** A request that still runs after this time is cut off. */
const longestRequestMs = 10_000

/**
 * Listens on a host; for `localhost` on each of its addresses, because clients may choose any. All connections
 * belong to the application's one server, so that its time limits apply to each.
 * @throws the error of listening on the first address
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: HostAndPort,
): Promise<Listening & { address: string }> {
  const [first = host, ...others] = await addressesOf(host)
  const address = await app.listen({ host: first, port })
  const servers: Server[] = [app.server]
  for (const other of others) {
    const server = await openSocket({ host: other, port }, {}, (connection) =>
      app.server.emit('connection', connection),
    ).catch(() => undefined)
    // The address does not exist or is taken: the first one is enough.
    if (!server) continue
    server.maxConnections = app.server.maxConnections
    servers.push(server)
  }
  const count = async () => (await Promise.all(servers.map(countOf))).reduce((sum, one) => sum + one, 0)
  return { address, ...endings(app, count, () => closeAll(servers)) }
}

const countOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))

/** Serves connections that another process accepts and hands over. */
export function takeConnections(app: FastifyInstance): Listening & { take(connection: Socket): void } {
  const open = new Set<Socket>()
  expectConnections(app.server)
  return {
    take(connection) {
      if (open.size >= app.server.maxConnections) {
        connection.destroy()
        return
      }
      open.add(connection)
      connection.once('close', () => open.delete(connection))
      // As for connections that a server of Node accepts itself; a handed over one has neither.
      connection.allowHalfOpen = true
      connection.setNoDelay(true)
      app.server.emit('connection', connection)
      connection.resume()
    },
    // The other process hands over no more.
    ...endings(
      app,
      async () => open.size,
      () => undefined,
    ),
  }
}

/** @param count the number of open connections */
function endings(app: FastifyInstance, count: () => Promise<number>, stopAccepting: () => void): Listening {
  return {
    async drain(timeoutMs) {
      app.endConnections = true
      stopAccepting()
      for (const until = performance.now() + timeoutMs; performance.now() < until; await sleep(pollMs)) {
        if ((await count()) === 0) return
      }
    },
    async close() {
      app.endConnections = true
      stopAccepting()
      const until = performance.now() + longestRequestMs
      while ((await count()) > 0) {
        if (performance.now() < until) app.server.closeIdleConnections()
        else app.server.closeAllConnections()
        await sleep(pollMs)
      }
      await app.close()
    },
  }
}

/** The client address of a request, in the one form in which addresses are shown, recorded and counted. */
export const addressOf = ({ ip }: FastifyRequest): string => plainAddress(ip)

/** What the program that sent a request calls itself, as far as it is recorded. */
export const userAgentOf = ({ headers }: FastifyRequest): string | null =>
  headers['user-agent']?.slice(0, 256) ?? null

export type HostAndPort = { host: string; port: number }

/** Listening sockets that pass on their connections. */
export type Sockets = {
  /** The URL of the first one. */
  address: string
  servers: readonly Server[]
  /** Takes no new connections; open ones stay. */
  close(): void
}

/** The addresses of a host: for `localhost` each of them, because clients may choose any. */
async function addressesOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/**
 * Listens on each address of a host. Further addresses may not exist or be taken: the first one is enough.
 * @throws the error of listening on the first address
 */
export async function openSockets(
  { host, port }: HostAndPort,
  options: ServerOpts,
  onConnection: (connection: Socket) => void,
): Promise<Sockets> {
  const [first = host, ...others] = await addressesOf(host)
  const main = await openSocket({ host: first, port }, options, onConnection)
  const servers = [main]
  for (const other of others) {
    servers.push(
      ...(await openSocket({ host: other, port }, options, onConnection).then(
        (one) => [one],
        () => [],
      )),
    )
  }
  return { address: urlOf(first, main), servers, close: () => closeAll(servers) }
}

/** `http.Server.close` would also close idle connections, on which a request may be on its way. */
function closeAll(servers: readonly Server[]): void {
  for (const server of servers) if (server.listening) Server.prototype.close.call(server)
}

async function openSocket(
  target: HostAndPort,
  options: ServerOpts,
  onConnection: (connection: Socket) => void,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true, ...options }, onConnection)
  server.listen(target)
  await once(server, 'listening')
  // Accepting may fail, for example without a free file descriptor; the next connection is accepted again.
  server.on('error', () => undefined)
  return server
}

/**
 * Prepares a server of HTTP that is handed connections and does not listen itself. Node applies time limits and closes
 * idle connections only after this event.
 */
export function expectConnections(server: HttpServer): void {
  server.emit('listening')
}

const Bound = z.object({ port: z.int() })

const urlOf = (host: string, server: Server): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${Bound.parse(server.address()).port}`
