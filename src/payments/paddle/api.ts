import type { Environment } from '@paddle/paddle-node-sdk'
import { ask, ProviderRefused, ProviderUnavailable } from '../trouble.ts'

/**
 * Lists the types of events, which paddle recommends for trying a key: it needs no permission and changes nothing.
 * @param apiUrl undefined for paddle's own, live or sandbox, which the key tells
 * @see https://developer.paddle.com/api-reference/about/authentication
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(
  apiUrl: string | undefined,
  apiKey: string,
  timeLimitMs: number,
): Promise<void> {
  // Loading it takes a fifth of a second, which only those who connect paddle have to wait for.
  const { ApiError, Environment: Known, Paddle } = await import('@paddle/paddle-node-sdk')
  // The SDK takes an address in the place of a name, which its types do not say.
  const elsewhere = apiUrl as Environment | undefined
  const environment = elsewhere ?? (apiKey.includes('_sdbx_') ? Known.sandbox : Known.production)
  const paddle = new Paddle(apiKey, { environment })
  await ask(
    'paddle',
    timeLimitMs,
    async () => {
      const types = await paddle.eventTypes.list()
      if (!Array.isArray(types)) throw new Error('no list')
    },
    (error) => {
      if (!(error instanceof ApiError)) return new ProviderUnavailable('paddle', 'no usable answer')
      const isRefusal = error.type === 'request_error' && error.code !== 'too_many_requests'
      if (!isRefusal) {
        return new ProviderUnavailable('paddle', 'an error of its own', error.retryAfter ?? undefined)
      }
      return new ProviderRefused('paddle', error.code === 'forbidden' ? 'permission' : 'key')
    },
  )
}
