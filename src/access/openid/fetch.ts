import { type Connections, createConnections } from '../../webhooks/post.ts'
import { faultOfUrl, type Resolve, type TargetRules } from '../../webhooks/targets.ts'
import { ProviderUnreachable } from './errors.ts'

/** A document of a provider is smaller, with all of its keys. */
const maxBytes = 524_288

/** Each request must be answered within this time. */
export const requestLimitMs = 5000

type FetchOptions = {
  method: string
  headers: HeadersInit
  body?: unknown
  signal?: AbortSignal | undefined
}

/** What a library of OpenID Connect calls instead of the global `fetch`. */
export type GuardedFetch = (url: string, options: FetchOptions) => Promise<Response>

/**
 * Requests to providers obey the same rules as webhooks: https, public addresses, no redirects. An answer has a time limit
 * and a largest size.
 * @throws ProviderUnreachable for everything that is no answer, and for an answer that says that the server failed
 */
export function createGuardedFetch(
  resolve: Resolve,
  rules: TargetRules,
): { fetch: GuardedFetch; close(): Promise<void> } {
  const connections = createConnections(resolve, rules)
  const guarded: GuardedFetch = async (text, options) => {
    const url = URL.parse(text)
    if (!url || faultOfUrl(url, rules) !== undefined)
      throw new ProviderUnreachable('an address of the provider is not allowed')
    try {
      return await answered(connections, url, options)
    } catch (error) {
      if (error instanceof ProviderUnreachable) throw error
      throw new ProviderUnreachable('the provider did not answer', { cause: error })
    }
  }
  return { fetch: guarded, close: () => connections.destroy() }
}

async function answered(
  connections: Connections,
  url: URL,
  { method, headers, body, signal }: FetchOptions,
): Promise<Response> {
  const agent = await connections.opened()
  const limit = AbortSignal.timeout(requestLimitMs)
  const {
    statusCode,
    headers: received,
    body: stream,
  } = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: method === 'POST' ? 'POST' : 'GET',
    headers: Object.fromEntries(new Headers(headers)),
    body: body instanceof URLSearchParams || typeof body === 'string' ? String(body) : null,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  const bytes = await readAll(stream)
  if (statusCode >= 500) throw new ProviderUnreachable(`the provider answered with status ${statusCode}`)
  const isEmpty = [101, 204, 205, 304].includes(statusCode)
  const type = String(received['content-type'] ?? '')
  return new Response(isEmpty ? null : bytes, { status: statusCode, headers: { 'content-type': type } })
}

async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a body without bytes')
    chunks.push(chunk)
    bytes += chunk.length
    // Leaving the loop ends the connection, so the rest is not transferred.
    if (bytes > maxBytes) throw new ProviderUnreachable('the answer of the provider is too large')
  }
  return Buffer.concat(chunks)
}
