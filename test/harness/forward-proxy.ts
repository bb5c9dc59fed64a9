import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy such as companies have, and what it was asked for: `POST http://…` and `CONNECT host:443`. */
export type ForwardProxy = { url: string; asked: string[]; close(): Promise<void> }

/**
 * Starts a proxy in front of a server.
 * @param target the server that gets all requests, whatever address they name. What is encrypted is not connected
 */
export async function startForwardProxy(target: string): Promise<ForwardProxy> {
  const asked: string[] = []
  const server = createServer((from, to) => {
    asked.push(`${from.method} ${from.url}`)
    const { pathname } = new URL(from.url ?? '')
    const { method, headers } = from
    const passed = request(new URL(pathname, target), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    passed.on('error', () => to.destroy())
    from.pipe(passed)
  })
  server.on('connect', ({ url }, socket) => {
    asked.push(`CONNECT ${url}`)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
