import type { z } from 'zod'
import type { Provider } from '../domain/integrations/provider.ts'
import { ask, errorOfStatus, ProviderUnavailable } from './errors.ts'
import { parsedAs } from './translated.ts'

type Answer = { provider: Provider; status: number; retryAfter: string | null; body: string }

type Call = {
  apiKey: string
  /** The media type of its answers. */
  accept: string
  timeLimitMs: number
  method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. */
  body?: unknown
}

/**
 * Calls a provider with the vendor's API key, by default to read.
 * @throws ProviderUnavailable when it does not respond; {@link contentOf} evaluates the status
 */
export function callWithKey(
  provider: Provider,
  url: string,
  { apiKey, accept, timeLimitMs, method = 'GET', body }: Call,
): Promise<Answer> {
  return ask(
    provider,
    timeLimitMs,
    async (signal) => {
      const type = accept === 'application/vnd.api+json' ? accept : 'application/json'
      const headers = {
        accept,
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && { 'content-type': type }),
      }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(url, { method, headers, redirect: 'error', signal, ...sent })
      const retryAfter = response.headers.get('retry-after')
      return { provider, status: response.status, retryAfter, body: await response.text() }
    },
    () => new ProviderUnavailable(provider, 'no connection'),
  )
}

/**
 * Parses a provider's answer.
 * @throws ProviderRefused; ProviderUnavailable, also for an answer of another shape
 */
export function contentOf<T extends z.ZodType>(shape: T, answer: Answer): z.infer<T> {
  const { provider, body } = answer
  requireSuccess(answer)
  const content = parsedAs(shape, body)
  if (content === undefined) throw new ProviderUnavailable(provider, 'a response of an unknown shape')
  return content
}

/** Removing what is no longer there is a success too. @throws ProviderRefused, ProviderUnavailable */
export function requireRemoved(answer: Answer): void {
  if (answer.status !== 404) requireSuccess(answer)
}

function requireSuccess({ provider, status, retryAfter }: Answer): void {
  if (![200, 201, 204].includes(status)) throw errorOfStatus(provider, status, retryAfter)
}
