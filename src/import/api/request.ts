import { setTimeout as sleep } from 'node:timers/promises'
import { ImportProblem } from '../problem.ts'

/** The API did not answer in the end. Run the import again: it continues with the page that it could not get. */
export class ImportUnavailable extends Error {}

export type Api = {
  name: string
  /** An address without a path. */
  baseUrl: string
  apiKey: string
  accept: string
  /** Waits between attempts; tests do not. */
  pause?: ((ms: number) => Promise<unknown>) | undefined
}

const timeLimitMs = 30_000
const attempts = 10
const longestPauseMs = 60_000

/**
 * Gets a page. Answers of 429 and 5xx, and broken connections, are repeated: after the time that the API names, else
 * after pauses that grow up to a minute.
 * @param path with its query; the key is sent to the API's own address only
 * @throws ImportProblem when the API refuses the request; ImportUnavailable when it does not answer in the end
 */
export async function getPage(
  { name, baseUrl, apiKey, accept, pause = sleep }: Api,
  path: string,
): Promise<unknown> {
  const url = new URL(path, baseUrl)
  if (url.origin !== new URL(baseUrl).origin)
    throw new ImportProblem(`${name} names a page at another address.`)
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(url, { accept, authorization: `Bearer ${apiKey}` })
    if (answer.kind === 'page') return answer.body
    if (answer.kind === 'refused') throw new ImportProblem(refusal(name, answer.status))
    if (attempt === attempts) {
      throw new ImportUnavailable(
        `${name} does not answer (${answer.why}). Run the same command again: it continues where it stopped.`,
      )
    }
    await pause(answer.afterMs ?? backoffMs(attempt))
  }
}

type Answer =
  | { kind: 'page'; body: unknown }
  | { kind: 'refused'; status: number }
  | { kind: 'later'; why: string; afterMs: number | undefined }

async function ask(url: URL, headers: Record<string, string>): Promise<Answer> {
  try {
    const response = await fetch(url, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(timeLimitMs),
    })
    const { status } = response
    if (status === 429 || status >= 500) {
      await response.body?.cancel()
      return { kind: 'later', why: String(status), afterMs: retryAfterMs(response.headers, Date.now()) }
    }
    if (status !== 200) {
      await response.body?.cancel()
      return { kind: 'refused', status }
    }
    return { kind: 'page', body: await response.json() }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { kind: 'later', why, afterMs: undefined }
  }
}

function refusal(name: string, status: number): string {
  if (status === 401 || status === 403)
    return `${name} refuses the API key (${status}). Check the key and its rights.`
  if (status === 404) return `${name} does not know the account, or has no such list (404).`
  return `${name} refuses the request (${status}).`
}

const backoffMs = (attempt: number): number =>
  Math.min(longestPauseMs, 500 * 2 ** attempt) * (0.75 + Math.random() / 4)

/** `Retry-After` is a number of seconds or a date. At most a minute is waited, so that a wrong value stops nothing. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(longestPauseMs, Math.max(0, ms))
}
