import { Pool } from 'undici'
import type { Violation } from './log-checks.ts'

/** The result of a request. After `unavailable` and `lost` it is unknown whether it was executed. */
export type Called =
  | { came: 'answer'; status: number; body: Readonly<Record<string, unknown>> }
  | { came: 'unavailable' }
  | { came: 'lost' }

export type Request = {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string
}

/** Counts of the requests to one path. */
export type CallFigures = { answered: number; unavailable: number; lost: number; slowestMs: number }

/** Counts of all requests. */
export type Figures = {
  requests: number
  byCall: Record<string, CallFigures>
  unavailable: number
  lost: number
  slowestMs: number
  slowest: string
}

export type Caller = {
  readonly figures: Figures
  call(app: 1 | 2, request: Request): Promise<Called>
  close(): Promise<void>
}

/** The timeout of a client. */
const timeoutMs = 15_000

/**
 * Sends requests to the applications. They must never answer 500, and 503 only with Retry-After.
 * @param onViolation receives each response that breaks this rule
 */
export function createCaller(
  addresses: Readonly<Record<1 | 2, string>>,
  onViolation: (violation: Violation) => void,
): Caller {
  const options = { connections: 64, pipelining: 1, connect: { timeout: 5000 } }
  const pools = { 1: new Pool(addresses[1], options), 2: new Pool(addresses[2], options) }
  const figures: Figures = { requests: 0, unavailable: 0, lost: 0, slowestMs: 0, slowest: '', byCall: {} }

  async function send(app: 1 | 2, { method, path, headers, body }: Request): Promise<Called> {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await pools[app].request({ method, path, headers, body: body ?? null, signal })
    const text = await answer.body.text()
    const { statusCode: status } = answer
    const what = `${method} ${path}`
    if (status === 503) {
      const retryAfter = answer.headers['retry-after']
      if (!(Number(retryAfter) >= 1)) {
        onViolation({ what, expected: '503 with Retry-After', found: `Retry-After: ${String(retryAfter)}` })
      }
      return { came: 'unavailable' }
    }
    if (status >= 500) {
      onViolation({ what, expected: 'no answer of 500 or above but 503', found: `${status} ${text}` })
      return { came: 'unavailable' }
    }
    return { came: 'answer', status, body: parsed(text) }
  }

  return {
    figures,
    async call(app, request) {
      const began = performance.now()
      figures.requests++
      const called = await send(app, request).catch((): Called => ({ came: 'lost' }))
      if (called.came !== 'answer') figures[called.came]++
      const tookMs = performance.now() - began
      note(figures, request.path, called, tookMs)
      if (tookMs > figures.slowestMs) {
        figures.slowestMs = tookMs
        figures.slowest = `${request.method} ${request.path}, ${called.came}`
      }
      return called
    },
    close: async () => void (await Promise.all([pools[1].destroy(), pools[2].destroy()])),
  }
}

function note({ byCall }: Figures, path: string, { came }: Called, tookMs: number): void {
  const name = path.replace(/lic_\w+/, '{id}')
  byCall[name] ??= { answered: 0, unavailable: 0, lost: 0, slowestMs: 0 }
  const figures = byCall[name]
  figures[came === 'answer' ? 'answered' : came]++
  figures.slowestMs = Math.max(figures.slowestMs, Math.round(tookMs))
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
