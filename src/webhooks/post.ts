import type { LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import type { AttemptResult } from '../domain/deliveries/delivery.ts'
import type { AttemptError } from '../domain/deliveries/events.ts'
import { faultOfUrl, isPublicAddress, type Resolve, type TargetRules } from './targets.ts'

export type Post = { url: URL; headers: Record<string, string>; body: string }

/** At most this much of an answer is read, and {@link maxKeptCharacters} of it are kept. */
const maxReadBytes = 65_536
const maxKeptCharacters = 1024

/**
 * Posts once and returns the result. Every failure of the receiver is a result; it throws only if this
 * process closed its connections meanwhile.
 *
 * | what happens                               | result                       |
 * | ------------------------------------------ | ---------------------------- |
 * | 2xx within the time limit                  | delivered                    |
 * | 3xx                                        | `redirect`, not followed     |
 * | any other status                           | `status`                     |
 * | no status within the time limit            | `timeout`                    |
 * | an address that is not public              | `target_refused`             |
 * | no address, no connection, no TLS, no HTTP | a code for it                |
 *
 * @param confidential strings to remove from the excerpt of the answer
 */
export async function post(
  connections: Connections,
  rules: TargetRules,
  { url, headers, body }: Post,
  { timeLimitMs, confidential }: { timeLimitMs: number; confidential: readonly string[] },
): Promise<AttemptResult> {
  // An address in the URL itself is never resolved, so it is checked here.
  if (faultOfUrl(url, rules) !== undefined) return failed('target_refused')
  const agent = await connections.opened()
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeLimitMs)
  try {
    const response = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers,
      body,
      signal: limit.signal,
      headersTimeout: timeLimitMs,
      bodyTimeout: timeLimitMs,
    })
    const { statusCode: status } = response
    const excerpt = excerptOf(await readSome(response.body), confidential)
    if (status >= 200 && status < 300) return { outcome: 'delivered', status, excerpt }
    return failed(status >= 300 && status < 400 ? 'redirect' : 'status', status, excerpt)
  } catch (error) {
    if (limit.signal.aborted) return failed('timeout')
    // This process closed the connection, which says nothing about the receiver.
    if (['UND_ERR_DESTROYED', 'UND_ERR_CLOSED'].includes(codeOf(error))) throw error
    return failed(errorOf(error))
  } finally {
    clearTimeout(timer)
  }
}

const failed = (
  error: AttemptError,
  status: number | null = null,
  excerpt: string | null = null,
): AttemptResult => ({ outcome: 'failed', error, status, excerpt })

/**
 * The beginning of a body. A body that breaks off or never ends is not an error: the status is known by then.
 */
async function readSome(body: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) break
      chunks.push(Buffer.from(chunk.subarray(0, maxReadBytes - bytes)))
      bytes += chunk.length
      // Leaving the loop ends the connection, so the rest is not transferred.
      if (bytes >= maxReadBytes) break
    }
  } catch {
    return Buffer.concat(chunks)
  }
  return Buffer.concat(chunks)
}

/**
 * The excerpt of an answer: text that every store can hold, without a key or personal data that the receiver
 * repeats.
 */
function excerptOf(bytes: Buffer, confidential: readonly string[]): string | null {
  if (bytes.length === 0) return null
  const text = new TextDecoder().decode(bytes).replaceAll('\0', '')
  const spellings = confidential.flatMap((secret) => [
    secret,
    secret.replaceAll('-', ''),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ])
  const pattern = [...new Set(spellings)]
    .filter((spelling) => spelling.length > 0)
    .sort((a, b) => b.length - a.length)
    .map((spelling) => spelling.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))
    .join('|')
  const clean = pattern === '' ? text : text.replace(new RegExp(pattern, 'gi'), '…')
  // Cutting may split a surrogate pair.
  return clean.slice(0, maxKeptCharacters).toWellFormed()
}

const codes: Record<string, AttemptError> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  EHOSTUNREACH: 'connection_refused',
  ENETUNREACH: 'connection_refused',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'name_not_found',
  EAI_AGAIN: 'name_not_found',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'connection_lost',
}

function errorOf(error: unknown): AttemptError {
  if (error instanceof AggregateError) return errorOf(error.errors[0])
  if (error instanceof NoTarget) return error.reason
  const code = codeOf(error)
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_)/.test(code)) return 'tls'
  const isMalformed = error instanceof Error && error.name === 'HTTPParserError'
  if (isMalformed || /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW)/.test(code)) return 'protocol'
  return codes[code] ?? 'internal'
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** The name has no address, or one that must not be delivered to. No connection was made. */
class NoTarget extends Error {
  readonly reason: 'target_refused' | 'name_not_found'

  constructor(reason: NoTarget['reason']) {
    super(reason)
    this.name = 'NoTarget'
    this.reason = reason
  }
}

const connectTimeoutMs = 5000
const keepAliveMs = 10_000

export type Connections = {
  /** @throws Error after `destroy` */
  opened(): Promise<Agent>
  destroy(): Promise<void>
}

/**
 * Pools of connections, one per origin. Each new connection resolves the name and connects to exactly the
 * addresses that were checked, so a name server cannot switch to another address in between. URLs with an
 * address are not checked here, so the caller checks those first. An origin has as many connections as
 * concurrent attempts: tenants may share an origin, and a slow webhook of one must not delay the others.
 */
export function createConnections(resolve: Resolve, { allowPrivate }: TargetRules): Connections {
  const lookup: LookupFunction = (host, _options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new NoTarget('name_not_found'), [])
        // One non-public address is enough to reject the name: legitimate names have none.
        if (!allowPrivate && !addresses.every(isPublicAddress))
          return done(new NoTarget('target_refused'), [])
        return done(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      },
      () => done(new NoTarget('name_not_found'), []),
    )
  }
  const options: Agent.Options = {
    connect: { lookup, timeout: connectTimeoutMs, autoSelectFamily: true },
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: 16_384,
  }
  let agent: Promise<Agent> | undefined
  let isDestroyed = false
  return {
    async opened() {
      if (isDestroyed) throw new Error('the connections of webhooks are closed')
      // Loaded with the first webhook: it is a large part of what a start would load.
      agent ??= import('undici').then(({ Agent }) => new Agent(options))
      return agent
    },
    async destroy() {
      isDestroyed = true
      await (await agent)?.destroy()
    },
  }
}
