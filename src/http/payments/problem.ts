import type { ProviderRefused, ProviderUnavailable } from '../../payments/trouble.ts'
import { Problem, unavailable } from '../problem.ts'

/** What a caller is told when a payment provider says no, or nothing. Nothing has been changed. */
export function problemOfProvider(error: ProviderRefused | ProviderUnavailable): Problem {
  const { provider } = error
  if ('retryAfterSeconds' in error) {
    const message = `${provider} does not answer; nothing was changed, try again`
    return unavailable(message, error.retryAfterSeconds)
  }
  return new Problem(422, 'invalid_request', refusals[error.reason](provider))
}

const refusals: Record<ProviderRefused['reason'], (provider: string) => string> = {
  key: (provider) => `${provider} does not accept the key; check it, and whether it is for this environment`,
  permission: (provider) => `${provider} does not let this key do that; give it the permission, or reconnect`,
  missing: (provider) => `${provider} does not know what was asked for; reconnect`,
  request: (provider) => `${provider} refused the request; its dashboard tells why`,
}
