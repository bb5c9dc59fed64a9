import { ask, ProviderUnavailable, troubleOfStatus } from '../trouble.ts'

/**
 * Asks whose key it is, which changes nothing.
 * @see https://docs.lemonsqueezy.com/api/users/retrieve-user
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const status = await ask(
    'lemonsqueezy',
    timeLimitMs,
    async (signal) => {
      const response = await fetch(`${apiUrl}/v1/users/me`, {
        headers: { accept: 'application/vnd.api+json', authorization: `Bearer ${apiKey}` },
        redirect: 'error',
        signal,
      })
      await response.body?.cancel()
      return { code: response.status, retryAfter: response.headers.get('retry-after') }
    },
    () => new ProviderUnavailable('lemonsqueezy', 'no connection'),
  )
  if (status.code !== 200) throw troubleOfStatus('lemonsqueezy', status.code, status.retryAfter)
}
