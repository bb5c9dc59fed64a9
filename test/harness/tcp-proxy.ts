import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and can fail as networks do. */
export type TcpProxy = {
  port: number
  /** `pass`; `deaf`: what the server says is lost; `mute`: nothing reaches the server either. */
  mode: 'pass' | 'deaf' | 'mute'
  /** Ends every connection that there is; new ones are taken. */
  cut(): void
  close(): Promise<void>
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  }
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1')
    for (const socket of [client, target]) track(socket)
    client.on('data', (bytes) => {
      if (proxy.mode !== 'mute') target.write(bytes)
    })
    target.on('data', (bytes) => {
      if (proxy.mode === 'pass') client.write(bytes)
    })
    client.on('close', () => target.destroy())
    target.on('close', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    mode: 'pass',
    cut,
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
