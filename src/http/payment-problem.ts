import type { ProviderRefused, ProviderUnavailable } from '../payments/trouble.ts'
import { Problem, unavailable } from './problem.ts'

/** The response when a payment provider refuses or does not respond. Nothing was changed. */
export function problemOfProvider(error: ProviderRefused | ProviderUnavailable): Problem {
  const { provider } = error
  if ('retryAfterSeconds' in error) {
    const message = `${provider} does not respond; nothing was changed, so retry`
    return unavailable(message, error.retryAfterSeconds)
  }
  return new Problem(422, 'invalid_request', refusals[error.reason](provider))
}

const refusals: Record<ProviderRefused['reason'], (provider: string) => string> = {
  key: (provider) => `${provider} rejects the key; check it and its environment (test or live)`,
  permission: (provider) => `${provider} denies this key the permission; grant it, or reconnect`,
  missing: (provider) => `${provider} cannot find the requested object; reconnect`,
  request: (provider) => `${provider} rejected the request; see the reason in its dashboard`,
}
