import type { Marketplace } from '../domain/integration/provider.ts'
import { checkApiKey as checkLemonSqueezyKey } from './lemonsqueezy/api.ts'
import { checkApiKey as checkPaddleKey } from './paddle/api.ts'
import { checkApiKey as checkPolarKey } from './polar/api.ts'
import { type CardProvider, createStripe } from './stripe/api.ts'

export type ProviderSettings = {
  /** The platform's own key at the card provider; without it no account can be connected. */
  stripeSecretKey: string | undefined
  stripeApiUrl: string
  lemonsqueezyApiUrl: string
  /** Undefined: paddle's own, live or sandbox by the key. */
  paddleApiUrl: string | undefined
  polarApiUrl: string
  /** How long one question to a provider may take. */
  timeLimitMs: number
}

/** The payment providers, as far as they are asked. Nobody else knows their SDKs. */
export type Providers = {
  card: CardProvider
  /**
   * Tries an API key with a call that changes nothing.
   * @throws ProviderRefused, ProviderUnavailable
   */
  checkApiKey(provider: Exclude<Marketplace, 'gumroad'>, apiKey: string): Promise<void>
}

export function createProviders(settings: ProviderSettings): Providers {
  const { timeLimitMs } = settings
  return {
    card: createStripe(settings.stripeApiUrl, settings.stripeSecretKey, timeLimitMs),
    async checkApiKey(provider, apiKey) {
      switch (provider) {
        case 'lemonsqueezy':
          return checkLemonSqueezyKey(settings.lemonsqueezyApiUrl, apiKey, timeLimitMs)
        case 'paddle':
          return checkPaddleKey(settings.paddleApiUrl, apiKey, timeLimitMs)
        case 'polar':
          return checkPolarKey(settings.polarApiUrl, apiKey, timeLimitMs)
      }
    },
  }
}
