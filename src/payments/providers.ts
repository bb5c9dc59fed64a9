import type { Marketplace } from '../domain/integrations/provider.ts'
import { checkApiKey as checkLemonSqueezyKey, readSubscription } from './lemonsqueezy/api.ts'
import type { Buyer } from './notification.ts'
import { checkApiKey as checkPaddleKey, isSandboxKey, readCustomer } from './paddle/api.ts'
import { checkApiKey as checkPolarKey } from './polar/api.ts'
import { type CardProvider, createStripe } from './stripe/api.ts'

export type ProviderSettings = {
  /** The platform's own key at the card provider; without it no account can be connected. */
  stripeSecretKey: string | undefined
  /** What the card provider signs the notifications of all connected accounts with; without it none is taken. */
  stripeWebhookSecret: string | undefined
  stripeApiUrl: string
  /** What of each sale goes to the platform, in hundredths of a percent. */
  platformFeeBasisPoints: number
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
  /** Whether the installation has a key of its own at the card provider. */
  hasPlatformKey: boolean
  /** What the card provider signs its notifications with; undefined when the platform has none. */
  cardWebhookSecret: string | undefined
  /**
   * Tries an API key with a call that changes nothing.
   * @throws ProviderRefused, ProviderUnavailable
   */
  checkApiKey(provider: Exclude<Marketplace, 'gumroad'>, apiKey: string): Promise<void>
  /**
   * Reads a subscription of lemonsqueezy's.
   * @returns the order that began it and how far it is paid; undefined when there is none
   * @throws ProviderRefused, ProviderUnavailable
   */
  readSubscription(apiKey: string, subscriptionId: string): Promise<PaidSubscription | undefined>
  /**
   * Reads a customer of paddle's; null for one without an email address.
   * @throws ProviderRefused, ProviderUnavailable
   */
  readCustomer(apiKey: string, customerId: string): Promise<Buyer | null>
  /** Whether what a connection tells of moves no money. */
  isSandbox(provider: 'paddle' | 'polar', apiKey: string | undefined): boolean
}

type PaidSubscription = { orderId: string; paidUntil: string }

export function createProviders(settings: ProviderSettings): Providers {
  const { timeLimitMs } = settings
  return {
    cardWebhookSecret: settings.stripeWebhookSecret,
    hasPlatformKey: settings.stripeSecretKey !== undefined,
    card: createStripe(
      settings.stripeApiUrl,
      settings.stripeSecretKey,
      timeLimitMs,
      settings.platformFeeBasisPoints,
    ),
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
    readSubscription: (apiKey, id) => readSubscription(settings.lemonsqueezyApiUrl, apiKey, id, timeLimitMs),
    readCustomer: (apiKey, id) => readCustomer(settings.paddleApiUrl, apiKey, id, timeLimitMs),
    isSandbox: (provider, apiKey) =>
      provider === 'paddle'
        ? apiKey !== undefined && isSandboxKey(apiKey)
        : new URL(settings.polarApiUrl).hostname === 'sandbox-api.polar.sh',
  }
}
