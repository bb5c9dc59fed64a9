import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export type Listening = {
  address: string
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
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const [first = host, ...others] = host === 'localhost' ? await addressesOf(host) : [host]
  const address = await app.listen({ host: first, port })
  const servers: Server[] = [app.server]
  for (const other of others) servers.push(...(await alsoListen(app, other, port)))

  const stopAccepting = () => {
    // `http.Server.close` would also close idle connections, on which a request may be on its way.
    for (const server of servers) if (server.listening) Server.prototype.close.call(server)
  }
  return {
    address,
    async drain(timeoutMs) {
      app.endConnections = true
      stopAccepting()
      for (const until = performance.now() + timeoutMs; performance.now() < until; await sleep(pollMs)) {
        if ((await countConnections(servers)) === 0) return
      }
    },
    async close() {
      app.endConnections = true
      stopAccepting()
      const until = performance.now() + longestRequestMs
      while ((await countConnections(servers)) > 0) {
        if (performance.now() < until) app.server.closeIdleConnections()
        else app.server.closeAllConnections()
        await sleep(pollMs)
      }
      await app.close()
    },
  }
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/** @returns no server when the address does not exist or is taken: the first address is enough */
async function alsoListen(app: FastifyInstance, host: string, port: number): Promise<Server[]> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    app.server.emit('connection', socket),
  )
  server.maxConnections = app.server.maxConnections
  try {
    server.listen({ host, port })
    await once(server, 'listening')
    return [server]
  } catch {
    return []
  }
}

async function countConnections(servers: readonly Server[]): Promise<number> {
  const counts = servers.map(
    (server) =>
      new Promise<number>((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count))),
  )
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}
