import type { ProviderRefused, ProviderUnavailable, StoreWanted } from '../payments/errors.ts'
import { Problem, unavailable } from './problem.ts'

/** The response when a payment provider refuses or does not respond. Nothing was changed. */
export function problemOfProvider(error: ProviderRefused | ProviderUnavailable | StoreWanted): Problem {
  const { provider } = error
  if ('stores' in error) return new Problem(422, 'invalid_request', storesIn(error))
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
  endpoint: (provider) =>
    `${provider} does not accept the endpoint; it needs a public https address (KEYLEDGER_BASE_URL), and room for another endpoint`,
  request: (provider) => `${provider} rejected the request; see the reason in its dashboard`,
}

function storesIn({ provider, stores }: StoreWanted): string {
  if (stores.length === 0) return `the account at ${provider} has no store; create one there first`
  const names = stores.map(({ id, name }) => `${id} (${name})`).join(', ')
  return `name the store at ${provider} that the endpoint is for: ${names}`
}
