import type { z } from 'zod'
import type { Provider } from '../domain/integrations/provider.ts'
import { parsedAs } from './translated.ts'
import { ask, ProviderUnavailable, troubleOfStatus } from './trouble.ts'

type Answer = { provider: Provider; status: number; retryAfter: string | null; body: string }

/**
 * Reads from a provider with the vendor's API key.
 * @param accept the media type of its answers
 * @throws ProviderUnavailable when it does not respond; {@link contentOf} evaluates the status
 */
export function readWithKey(
  provider: Provider,
  url: string,
  { apiKey, accept, timeLimitMs }: { apiKey: string; accept: string; timeLimitMs: number },
): Promise<Answer> {
  return ask(
    provider,
    timeLimitMs,
    async (signal) => {
      const headers = { accept, authorization: `Bearer ${apiKey}` }
      const response = await fetch(url, { headers, redirect: 'error', signal })
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
  const { provider, status, retryAfter, body } = answer
  if (status !== 200) throw troubleOfStatus(provider, status, retryAfter)
  const content = parsedAs(shape, body)
  if (content === undefined) throw new ProviderUnavailable(provider, 'a response of an unknown shape')
  return content
}
