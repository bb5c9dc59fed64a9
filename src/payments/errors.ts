import type { Provider } from '../domain/integrations/provider.ts'

/** The provider did not respond, or with a temporary error. A retry may succeed. */
export class ProviderUnavailable extends Error {
  readonly provider: Provider
  readonly retryAfterSeconds: number

  /** @param what for the log: never the text of an answer, which may repeat what was sent */
  constructor(provider: Provider, what: string, retryAfterSeconds = 5) {
    super(`${provider}: ${what}`)
    this.name = 'ProviderUnavailable'
    this.provider = provider
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The provider rejected the request, and would reject it again. */
export class ProviderRefused extends Error {
  readonly provider: Provider
  readonly reason: 'key' | 'permission' | 'missing' | 'request' | 'endpoint'

  constructor(provider: Provider, reason: ProviderRefused['reason']) {
    super(`${provider} refused: ${reason}`)
    this.name = 'ProviderRefused'
    this.provider = provider
    this.reason = reason
  }
}

/** The account has several stores, or not the one that was named, and an endpoint belongs to one of them. */
export class StoreWanted extends Error {
  readonly provider: Provider
  readonly stores: readonly { id: string; name: string }[]

  constructor(provider: Provider, stores: StoreWanted['stores']) {
    super(`${provider}: a store must be named`)
    this.name = 'StoreWanted'
    this.provider = provider
    this.stores = stores
  }
}

/** The same error, with what it means when an endpoint was to be created: its address is not taken. */
export const asEndpointProblem = (error: unknown): unknown =>
  error instanceof ProviderRefused && error.reason === 'request'
    ? new ProviderRefused(error.provider, 'endpoint')
    : error

/** Takes what is no longer there for removed. @throws any other error */
export function unlessMissing(error: unknown): void {
  if (!(error instanceof ProviderRefused && error.reason === 'missing')) throw error
}

/**
 * Calls a provider, with a time limit.
 * @param troubleOf translates an error of the call into the one that is thrown
 * @throws ProviderUnavailable when the time is up
 */
export async function ask<T>(
  provider: Provider,
  timeLimitMs: number,
  call: (signal: AbortSignal) => Promise<T>,
  errorOf: (error: unknown) => Error,
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
    throw errorOf(error)
  })
  // A failure after the time limit has no listener any more.
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The error for an unsuccessful HTTP status. */
export function errorOfStatus(
  provider: Provider,
  status: number | undefined,
  retryAfter?: string | null,
): ProviderUnavailable | ProviderRefused {
  if (status === 401) return new ProviderRefused(provider, 'key')
  if (status === 403) return new ProviderRefused(provider, 'permission')
  if (status === 404) return new ProviderRefused(provider, 'missing')
  const isRefusal = status !== undefined && status >= 400 && status < 500
  // Timeouts, conflicts and rate limits: a retry may succeed.
  if (isRefusal && ![408, 409, 425, 429].includes(status)) return new ProviderRefused(provider, 'request')
  return new ProviderUnavailable(provider, `HTTP ${status ?? 'no response'}`, secondsOf(retryAfter))
}

/** `Retry-After` in seconds, within an hour; undefined when it is absent or a date. */
function secondsOf(retryAfter: string | null | undefined): number | undefined {
  const seconds = Number(retryAfter ?? Number.NaN)
  return Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, 3600) : undefined
}
