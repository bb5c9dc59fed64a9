import type { Stripe } from 'stripe'
import type { z } from 'zod'
import { Refusal } from '../../domain/refusal.ts'
import { ask, errorOfStatus, ProviderUnavailable } from '../errors.ts'

/**
 * Makes one call with the SDK and parses its answer.
 * @param key undefined when the platform has none
 * @throws Refusal `platform_key_missing`, `platform_key_refused`
 * @throws ProviderRefused; ProviderUnavailable, also for an answer of an unexpected shape, which must not get
 *   into the log
 */
export type Call = <T extends z.ZodType>(
  key: string | undefined,
  shape: T,
  work: (stripe: Stripe) => Promise<unknown>,
) => Promise<z.infer<T>>

export function createCall(apiUrl: string, platformKey: string | undefined, timeLimitMs: number): Call {
  const { hostname, port, protocol } = new URL(apiUrl)
  const config = {
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    protocol: protocol === 'http:' ? 'http' : 'https',
    timeout: timeLimitMs,
    maxNetworkRetries: 1,
    telemetry: false,
  } as const

  return async (key, shape, work) => {
    if (key === undefined) throw new Refusal('platform_key_missing')
    const { Stripe: Client } = await import('stripe')
    const stripe = new Client(key, config)
    const errorOf = (error: unknown) => {
      if (!(error instanceof Client.errors.StripeError)) {
        return new ProviderUnavailable('stripe', 'no usable response')
      }
      const isPlatforms = error.statusCode === 401 && key === platformKey
      if (isPlatforms) return new Refusal('platform_key_refused')
      return errorOfStatus('stripe', error.statusCode, error.headers?.['retry-after'])
    }
    const answer = await ask('stripe', timeLimitMs, async () => work(stripe), errorOf)
    const parsed = shape.safeParse(answer)
    if (!parsed.success) throw new ProviderUnavailable('stripe', 'a response of an unknown shape')
    return parsed.data
  }
}
