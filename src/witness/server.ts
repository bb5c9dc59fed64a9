import type { IncomingMessage, RequestListener } from 'node:http'
import { type Running, readBody, serve } from '../bare-http/server.ts'
import { originHash } from './store.ts'
import { addCheckpoint, type WitnessAnswer, type WitnessOptions } from './witness.ts'

/** A call with the longest proof and a hundred signatures is shorter. */
const maxBytes = 65_536
const requestMs = 10_000

/** Serves a witness over HTTP, whose prefix for submissions and for reading is the root. */
export function serveWitness(
  options: WitnessOptions,
  at: { host: string; port: number },
  onError: (error: unknown) => void,
): Promise<Running> {
  const answer: RequestListener = (request, response) => {
    answerTo(options, request)
      .catch((error: unknown): WitnessAnswer => {
        onError(error)
        return { status: 500, body: 'the witness failed\n' }
      })
      .then(({ status, body, type = 'text/plain; charset=utf-8' }) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
      })
      .catch(onError)
  }
  return serve({ requestTimeout: requestMs }, answer, at, onError)
}

async function answerTo(options: WitnessOptions, request: IncomingMessage): Promise<WitnessAnswer> {
  const path = request.url?.split('?')[0] ?? ''
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return { status: 405, body: 'use POST\n' }
    const body = await readText(request)
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
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const body = await readBody(request, maxBytes)
  try {
    return body && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
}
