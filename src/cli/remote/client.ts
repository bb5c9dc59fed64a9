import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CallApi } from '../../mcp/api.ts'
import { headersOf, pathOf } from '../../mcp/request.ts'
import { wholeNumberIn } from '../../numbers.ts'
import { CommandUnavailable } from '../../terminal/exit-codes.ts'
import { RemoteError, refusalOf } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Call = {
  method: Method
  /** From `/v1` on. */
  path: string
  query?: Readonly<Record<string, string | undefined>>
  /** Sent as JSON; undefined sends none. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Whether the server does nothing twice when it gets the request again. False: a lost answer is an error. */
  repeatable?: boolean
  /** How long the server may take to the end of its answer. */
  timeLimitMs?: number
}

type RemoteAnswer = { status: number; headers: Headers; body: unknown }

/** Calls a server. Every method throws RemoteError for a refusal, CommandUnavailable without an answer. */
export type Client = {
  /** Calls and reads the whole answer. */
  call(call: Call): Promise<RemoteAnswer>
  /** Calls and returns the answer with its body unread, when it may be larger than the memory. */
  open(call: Call): Promise<Response>
}

type Options = {
  token?: string
  retries?: number
  timeLimitMs?: number
  sleep?: (ms: number) => Promise<void>
}

const maxPauseMs = 30_000
const firstPauseMs = 500

/**
 * A client of one server. A request that the server refuses for now is repeated, after `Retry-After` and some
 * jitter. Every write has an Idempotency-Key, the same in each attempt.
 */
export function createClient(
  server: string,
  { token, retries = 5, timeLimitMs = 30_000, sleep = (ms) => pause(ms) }: Options = {},
): Client {
  async function open(call: Call): Promise<Response> {
    const key = randomUUID()
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= retries
      const response = await send(call, key).catch((error: unknown) => {
        if (last || !isRepeatable(call)) throw unreachable(server, error)
        return undefined
      })
      if (response && (last || !isForNow(response, call))) return checked(response)
      await response?.body?.cancel()
      await sleep(pauseMs(attempt, response && retryAfterIn(response.headers)))
    }
  }

  function send(call: Call, key: string): Promise<Response> {
    const { method, path, query, body, headers } = call
    return fetch(addressOf(server, path, query), {
      method,
      headers: {
        accept: 'application/json, */*;q=0.5',
        'user-agent': 'keyledger-cli',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(method !== 'GET' && { 'idempotency-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token is for this address alone.
      redirect: 'manual',
      signal: AbortSignal.timeout(call.timeLimitMs ?? timeLimitMs),
    })
  }

  return {
    open,
    async call(call) {
      const response = await open(call)
      const text = await response.text().catch((error: unknown) => {
        throw unreachable(server, error)
      })
      return { status: response.status, headers: response.headers, body: jsonIn(text) }
    },
  }
}

const isRepeatable = ({ method, repeatable = true }: Call): boolean => method === 'GET' || repeatable

/** Turned away before anything happened; a 503 may come after the change, so then only what is repeatable. */
function isForNow({ status, headers }: Response, call: Call): boolean {
  if (status === 429) return true
  if (status === 503 || status === 502 || status === 504) return isRepeatable(call)
  // The first attempt with this Idempotency-Key is still running.
  return status === 409 && headers.has('retry-after')
}

/** How long to wait before the next attempt: at least what the server asks for. */
export function pauseMs(
  attempt: number,
  retryAfterSeconds: number | undefined,
  random = Math.random,
): number {
  const backoff = firstPauseMs * 2 ** attempt * (0.5 + random())
  const requestedMs = retryAfterSeconds === undefined ? 0 : retryAfterSeconds * 1000 + 250 * random()
  return Math.min(maxPauseMs, Math.max(backoff, requestedMs))
}

/** After how many seconds a server asks to be called again. */
export const retryAfterIn = (headers: Headers): number | undefined =>
  wholeNumberIn(headers.get('retry-after') ?? '', 1, 86_400)

async function checked(response: Response): Promise<Response> {
  const { status, headers } = response
  if (status >= 200 && status < 300) return response
  if (status >= 300 && status < 400) {
    throw new RemoteError(
      `The server sends requests on to ${headers.get('location')}. Sign in there: keyledger login --server <address>`,
      { status },
    )
  }
  throw refusalOf(status, jsonIn(await response.text()), headers)
}

function addressOf(server: string, path: string, query: Call['query'] = {}): URL {
  const url = new URL(`${server}${path}`)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value)
  return url
}

function unreachable(server: string, error: unknown): CommandUnavailable {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why =
    error instanceof DOMException && error.name === 'TimeoutError'
      ? 'no answer in time'
      : cause instanceof Error
        ? cause.message || ('code' in cause ? String(cause.code) : cause.name)
        : String(cause)
  return new CommandUnavailable(
    `${server} does not respond: ${why}. Check the address and the network, then run the command again.`,
  )
}

/** The body as text when it is not JSON. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** How the tools of an agent call a server over the network. A refusal of the server is an answer like any other. */
export const callServer =
  (client: Client): CallApi =>
  async (request) => {
    const { method, body, confirmationId } = request
    try {
      const { status, body: answered } = await client.call({
        method,
        path: pathOf(request),
        body,
        headers: headersOf(request),
        // An approval can be used once, so its request is not sent again when the answer is lost.
        repeatable: confirmationId === undefined,
      })
      return { status, body: answered }
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error
      return { status: error.status, body: { error: error.message } }
    }
  }
