import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, and can fail as networks do. */
export type TcpProxy = {
  port: number
  /** `pass`; `deaf`: what the server says is lost; `mute`: nothing reaches the server either. */
  mode: 'pass' | 'deaf' | 'mute'
  /** How much later everything arrives, in both directions. */
  delayMs: number
  /** Ends every connection that there is; new ones are taken. */
  cut(): void
  /** The same, at once and without an orderly end. */
  reset(): void
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
    const toServer = inOrder((bytes) => server.write(bytes))
    const toClient = inOrder((bytes) => client.write(bytes))
    client.on('data', (bytes) => {
      if (proxy.mode !== 'mute') toServer(bytes, proxy.delayMs)
    })
    server.on('data', (bytes) => {
      if (proxy.mode === 'pass') toClient(bytes, proxy.delayMs)
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
    delayMs: 0,
    cut,
    reset() {
      // A Unix socket has no address, and cannot be reset.
      for (const socket of sockets) {
        if (socket.remoteAddress === undefined) socket.destroy()
        else socket.resetAndDestroy()
      }
    },
    async close() {
      cut()
      listener.close()
      await once(listener, 'close')
    },
  }
  return proxy
}

/** Hands on everything in the order in which it came, also while the delay changes. */
function inOrder(write: (bytes: Buffer) => void): (bytes: Buffer, delayMs: number) => void {
  const waiting: Buffer[] = []
  return (bytes, delayMs) => {
    if (delayMs === 0 && waiting.length === 0) {
      write(bytes)
      return
    }
    waiting.push(bytes)
    setTimeout(() => {
      const first = waiting.shift()
      if (first) write(first)
    }, delayMs)
  }
}
