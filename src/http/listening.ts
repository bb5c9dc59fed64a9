import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

export type Listening = {
  address: string
  /**
   * Takes no new connections, and ends each open one with its next answer, or when it has been idle for as long as its
   * clients were promised. So no client meets a closed connection that it may still use.
   * @param patienceMs after this, connections that are idle are ended too
   */
  drain(patienceMs: number): Promise<void>
  /** Takes no new connections, finishes the running requests and closes the application. */
  close(): Promise<void>
}

/** How often open connections are looked at while they are waited for. */
const pollMs = 50
/** After this a request that is still running is cut off. */
const longestRequestMs = 10_000

/**
 * Listens on a host: on each of its addresses where it is `localhost`, as clients choose either. All connections are
 * those of the application's one server, so that its time limits hold for each of them.
 * @throws what listening on the first address throws
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
    // Without this detour an HTTP server would end its idle connections, on one of which a request may be on its way.
    for (const server of servers) if (server.listening) Server.prototype.close.call(server)
  }
  return {
    address,
    async drain(patienceMs) {
      app.endConnections = true
      stopAccepting()
      for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(pollMs)) {
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

/** @returns nothing where the address is not there or taken: the first one is enough */
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
