import type { Socket } from 'node:net'
import { http } from '../../bare-http/node-http.ts'
import { expectConnections, type HostAndPort, openSockets } from '../../http/listening.ts'
import { bodyOf, unavailable } from '../../http/problem.ts'

/** Where a server with workers takes connections. Its parent owns the sockets, so they stay open without a worker. */
export type Door = {
  address: string
  /** Takes no new connections. */
  close(): void
}

/**
 * Listens, and gives each connection to a worker. Without one, each request is answered with 503.
 * @param give hands a connection to a worker, unless none serves
 * @throws the error of listening on the first address
 */
export async function openDoor(target: HostAndPort, give: (connection: Socket) => boolean): Promise<Door> {
  const refusing = http.createServer((request, response) => {
    const problem = unavailable('the server is starting again; retry')
    request.resume()
    response
      .writeHead(problem.status, {
        ...problem.headers,
        'content-type': 'application/json; charset=utf-8',
        connection: 'close',
      })
      .end(JSON.stringify(bodyOf(request.url ?? '', problem)))
  })
  refusing.on('error', () => undefined)
  expectConnections(refusing)
  // The process that answers is the first one to read.
  const { address, close } = await openSockets(target, { pauseOnConnect: true }, (connection) => {
    connection.on('error', () => undefined)
    if (give(connection)) return
    refusing.emit('connection', connection)
    connection.resume()
  })
  return { address, close }
}
