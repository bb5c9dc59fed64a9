import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from './node-http.ts'

/** A server that listens. */
export type Running = { port: number; close: () => Promise<void> }

/**
 * Serves over HTTP.
 * @param at port 0 takes a free one
 * @param onError gets what fails after it listens
 * @returns its port, and what ends it: it takes no more calls, and finishes those that run
 * @throws the error of listening
 */
export async function serve(
  options: ServerOptions,
  answer: RequestListener,
  at: { host: string; port: number },
  onError: (error: unknown) => void,
): Promise<Running> {
  const server = http.createServer(options, answer)
  server.listen(at.port, at.host)
  await once(server, 'listening')
  server.on('error', onError)
  const { port } = server.address() as AddressInfo
  return { port, close: () => closed(server) }
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeIdleConnections()
  })

/** Reads a body to its end, and keeps no more of it than is allowed. @returns undefined for one that is longer */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maxBytes) chunks.push(chunk)
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks)
}
