import { connect, type NetConnectOpts } from 'node:net'

/** Who takes the connection and says nothing for so long is busy or halted, and not gone. */
const silenceTimeoutMs = 1000

/**
 * Whether a program answers behind a socket. One that has just been killed still stands in the table of processes for a
 * moment, in which the system takes connections for it.
 *
 * @param question what it has an answer to, unless it is the first to speak
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
