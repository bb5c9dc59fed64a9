import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { originHash } from './store.ts'
import { addCheckpoint, type WitnessAnswer, type WitnessOptions } from './witness.ts'

/** A call with the longest proof and a hundred signatures is shorter. */
const maxBytes = 65_536
const requestMs = 10_000

/** A witness that listens. */
export type RunningWitness = { port: number; close: () => Promise<void> }

/** Serves a witness over HTTP, whose prefix for submissions and for reading is the root. */
export async function serveWitness(
  options: WitnessOptions,
  at: { host: string; port: number },
  onError: (error: unknown) => void,
): Promise<RunningWitness> {
  const server = createServer({ requestTimeout: requestMs }, (request, response) => {
    answerTo(options, request)
      .catch((error: unknown): WitnessAnswer => {
        onError(error)
        return { status: 500, body: 'the witness failed\n' }
      })
      .then(({ status, body, type = 'text/plain; charset=utf-8' }) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
      })
      .catch(onError)
  })
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

async function answerTo(options: WitnessOptions, request: IncomingMessage): Promise<WitnessAnswer> {
  const path = request.url?.split('?')[0] ?? ''
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return { status: 405, body: 'use POST\n' }
    const body = await readBody(request)
    return body === undefined
      ? { status: 400, body: 'the body is too long, or no UTF-8\n' }
      : addCheckpoint(options, body)
  }
  const hash = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path)?.[1]
  const log = options.logs.find(({ origin }) => originHash(origin) === hash)
  const kept = request.method === 'GET' && log ? options.store.read(log.origin) : undefined
  return kept ? { status: 200, body: kept.note } : { status: 404, body: 'not found\n' }
}

/** @returns undefined for a body that is too long or no UTF-8 */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maxBytes) chunks.push(chunk)
  }
  if (length > maxBytes) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    return undefined
  }
}
