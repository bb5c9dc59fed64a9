import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A proxy such as companies have, and what it was asked for: `POST http://…` and `CONNECT host:443`. */
export type ForwardProxy = { url: string; asked: string[]; close(): Promise<void> }

/**
 * Starts a proxy in front of a server.
 * @param target the server that gets all requests, whatever address they name
 * @param isOpen whether it connects to it also without reading along, with CONNECT
 */
export async function startForwardProxy(target: string, isOpen = false): Promise<ForwardProxy> {
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
    if (!isOpen) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const { hostname, port } = new URL(target)
    const onward = connect(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    socket.pipe(onward).pipe(socket)
    for (const one of [socket, onward]) one.on('error', () => socket.destroy())
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
