import type { Provider } from '../domain/integrations/provider.ts'

/** The provider could not be asked, or could not answer. Trying again later may help. */
export class ProviderUnavailable extends Error {
  readonly provider: Provider
  readonly retryAfterSeconds: number

  /** @param what for the log: never an answer's text, which may repeat what was sent */
  constructor(provider: Provider, what: string, retryAfterSeconds = 5) {
    super(`${provider}: ${what}`)
    this.name = 'ProviderUnavailable'
    this.provider = provider
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The provider answered no, and will answer the same again. */
export class ProviderRefused extends Error {
  readonly provider: Provider
  readonly reason: 'key' | 'permission' | 'missing' | 'request'

  constructor(provider: Provider, reason: ProviderRefused['reason']) {
    super(`${provider} refused: ${reason}`)
    this.name = 'ProviderRefused'
    this.provider = provider
    this.reason = reason
  }
}

/**
 * Asks a provider, for no longer than the time limit.
 * @param troubleOf what an error of the call means; thrown in its place
 * @throws ProviderUnavailable when the time is up
 */
export async function ask<T>(
  provider: Provider,
  timeLimitMs: number,
  call: (signal: AbortSignal) => Promise<T>,
  troubleOf: (error: unknown) => Error,
): Promise<T> {
  const limit = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ProviderUnavailable(provider, `no response within ${timeLimitMs} ms`))
      limit.abort()
    }, timeLimitMs)
  })
  const answer = call(limit.signal).catch((error: unknown) => {
    throw troubleOf(error)
  })
  // When it fails after the time is up, nobody listens any more.
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What an HTTP status means that is no success. */
export function troubleOfStatus(
  provider: Provider,
  status: number | undefined,
  retryAfter?: string | null,
): ProviderUnavailable | ProviderRefused {
  if (status === 401) return new ProviderRefused(provider, 'key')
  if (status === 403) return new ProviderRefused(provider, 'permission')
  if (status === 404) return new ProviderRefused(provider, 'missing')
  const isRefusal = status !== undefined && status >= 400 && status < 500
  // Too early, too often, or while another request holds the lock: it may work later.
  if (isRefusal && ![408, 409, 425, 429].includes(status)) return new ProviderRefused(provider, 'request')
  return new ProviderUnavailable(provider, `HTTP ${status ?? 'no response'}`, secondsOf(retryAfter))
}

/** `Retry-After` in seconds, within an hour; undefined when it is absent or a date. */
function secondsOf(retryAfter: string | null | undefined): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN)
  return Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, 3600) : undefined
}
