import { connect, type NetConnectOpts } from 'node:net'

/** A server that accepts the connection and sends nothing for this long is busy or paused, but running. */
const silenceTimeoutMs = 1000

/**
 * Whether a server responds on a socket. A server that was just killed stays in the process table for a moment,
 * in which the system still accepts connections for it.
 *
 * @param question the bytes to send first, for a server that does not send first
 */
export async function isResponding(
  address: NetConnectOpts,
  question: Uint8Array = Buffer.of(),
): Promise<boolean> {
  const socket = connect(address)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.on('data', () => resolve(true))
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(false))
  socket.setTimeout(silenceTimeoutMs, () => resolve(true))
  socket.write(question)
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
