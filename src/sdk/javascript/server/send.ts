import { retryAfterMs } from '../retry-after.ts'
import { KeyledgerError } from './error.ts'

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal },
) => Promise<{
  status: number
  headers: { get(name: string): string | null }
  arrayBuffer(): Promise<ArrayBuffer>
}>

export type Sending = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  /** Whether the same request may be sent again when it is not known whether it was done. */
  repeatable: boolean
}

export type Sent = { status: number; body: unknown; retryAfterMs: number | undefined }

export type Transport = {
  fetch: Fetch
  /** How often a request is sent at most. */
  attempts: number
  timeoutMs: number
  sleep: (ms: number) => Promise<void>
  random: () => number
}

/** A longer pause is left to the caller, who learns of it from the error. */
const longestPauseSeconds = 60

/**
 * Sends a request, again after errors that may pass: 429, 503, a 409 that says when to ask again, and, where it is
 * harmless, an answer that did not come. Keeps to `Retry-After`; otherwise waits with full jitter, up to 0.5 s, 1 s, 2 s.
 * @throws KeyledgerError for every answer that is not a success
 */
export async function send(transport: Transport, sending: Sending): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    const sent = await once(transport, sending)
    if (!(sent instanceof KeyledgerError)) return sent
    if (attempt >= transport.attempts || !mayRepeat(sent, sending) || sending.signal?.aborted) throw sent
    const pause = sent.retryAfterSeconds ?? 0
    if (pause > longestPauseSeconds) throw sent
    await transport.sleep(pause * 1000 + transport.random() * 500 * 2 ** (attempt - 1))
  }
}

function mayRepeat({ status, retryAfterSeconds }: KeyledgerError, { repeatable }: Sending): boolean {
  if (status === 429) return true
  if (status === 409) return retryAfterSeconds !== undefined
  return repeatable && [0, 408, 500, 502, 503, 504].includes(status)
}

async function once(transport: Transport, sending: Sending): Promise<Sent | KeyledgerError> {
  const { method, url, headers, body, signal } = sending
  const limit = AbortSignal.timeout(transport.timeoutMs)
  const init = { method, headers, ...(body !== undefined && { body }) }
  try {
    const response = await transport.fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const isJson = /^application\/(?:[\w.]+\+)?json\b/.test(response.headers.get('content-type') ?? '')
    const content = isJson ? parsed(bytes) : bytes
    const wait = retryAfterMs(response.headers.get('retry-after'), Date.now())
    if (response.status < 300) return { status: response.status, body: content, retryAfterMs: wait }
    return errorOf(response.status, content, {
      requestId: response.headers.get('request-id') ?? undefined,
      ...(wait !== undefined && { retryAfterSeconds: Math.ceil(wait / 1000) }),
    })
  } catch (cause) {
    return new KeyledgerError(`the license server did not answer ${method} ${url}`, {
      status: 0,
      code: 'no_answer',
      cause,
    })
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** The management operations have a message as their error, the runtime operations a code and a message. */
function errorOf(
  status: number,
  body: unknown,
  more: { requestId?: string | undefined; retryAfterSeconds?: number },
): KeyledgerError {
  const error = fieldsOf(body).error
  const { code, message } = fieldsOf(error)
  const text =
    typeof error === 'string'
      ? error
      : typeof message === 'string'
        ? message
        : `the license server answered ${status}`
  return new KeyledgerError(text, { status, ...(typeof code === 'string' && { code }), ...more })
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
