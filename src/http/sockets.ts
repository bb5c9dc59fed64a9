import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, Server, type ServerOpts, type Socket } from 'node:net'
import { z } from 'zod'

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
export async function addressesOf(host: string): Promise<string[]> {
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
export function closeAll(servers: readonly Server[]): void {
  for (const server of servers) if (server.listening) Server.prototype.close.call(server)
}

export async function openSocket(
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
