import { once } from 'node:events'
import { createServer } from 'node:net'

/** Whether a program may listen on this port of the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await tryListening(port)) !== undefined
}

/** A port of the loopback interface on which nobody listens. */
export async function findFreePort(): Promise<number> {
  const port = await tryListening(0)
  if (port === undefined) throw new Error('The system has no free port on 127.0.0.1')
  return port
}

async function tryListening(port: number): Promise<number | undefined> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
  try {
    await once(server, 'listening')
  } catch {
    return undefined
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? address?.port : undefined
}
