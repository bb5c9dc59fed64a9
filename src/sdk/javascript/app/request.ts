import { retryAfterMs } from '../retry-after.ts'
import type { Clock, Fetch } from './ports.ts'

export type Answered = {
  status: number
  /** Undefined when it is not JSON. */
  body: unknown
  retryAfterMs: number | undefined
}

export type Request = { method: 'GET' | 'POST'; url: string; headers: Record<string, string>; body?: string }

/** Answers of the server are smaller; what is longer comes from something else. */
const longestText = 65_536

/**
 * Sends a request once.
 * @returns undefined when no complete answer came within the time
 */
export async function request(
  { clock, fetch }: { clock: Clock; fetch: Fetch },
  { url, ...init }: Request,
  timeoutMs: number,
): Promise<Answered | undefined> {
  const stop = new AbortController()
  const answer = (async () => {
    const response = await fetch(url, { ...init, signal: stop.signal })
    const text = await response.text()
    return {
      status: response.status,
      body: parsed(text),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), clock.now()),
    }
  })().catch(() => undefined)
  let cancel = (): void => undefined
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(timeoutMs, () => {
      resolve(undefined)
      stop.abort()
    })
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

function parsed(text: string): unknown {
  if (text.length > longestText) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
