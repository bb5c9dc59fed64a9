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

/** @param target a port of this machine, or the path of a socket */
export async function startTcpProxy(target: number | string): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
  }
  const listener = createServer((client) => {
    const server = typeof target === 'string' ? connect(target) : connect(target, '127.0.0.1')
    for (const socket of [client, server]) track(socket)
    client.on('data', (bytes) => {
      if (proxy.mode !== 'mute') server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (proxy.mode === 'pass') client.write(bytes)
    })
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: TcpProxy = {
    port: (listener.address() as AddressInfo).port,
    mode: 'pass',
    cut,
    async close() {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
  return proxy
}
