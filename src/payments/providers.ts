import type { Marketplace, Provider } from '../domain/integrations/provider.ts'
import type { ProviderEndpoints } from './endpoints.ts'
import { checkApiKey as checkLemonSqueezyKey, listVariants, readSubscription } from './lemonsqueezy/api.ts'
import { lemonSqueezyEndpoints } from './lemonsqueezy/endpoints.ts'
import { type OrderItem, readOrderItems } from './lemonsqueezy/order-items.ts'
import type { Buyer } from './notification.ts'
import { type Offered, offeredWithinMs } from './offered.ts'
import { checkApiKey as checkPaddleKey, isSandboxKey, listPrices, readCustomer } from './paddle/api.ts'
import { paddleEndpoints } from './paddle/endpoints.ts'
import { checkApiKey as checkPolarKey, listProducts } from './polar/api.ts'
import { polarEndpoints } from './polar/endpoints.ts'
import { type CardProvider, createStripe } from './stripe/api.ts'

export type ProviderSettings = {
  /** The platform's own key at the card provider; without it no account can be connected. */
  stripeSecretKey: string | undefined
  /**
   * The secret of the card provider's notifications for all connected accounts; without it they are rejected.
   */
  stripeWebhookSecret: string | undefined
  stripeApiUrl: string
  /** The platform's share of each sale, in hundredths of a percent. */
  platformFeeBasisPoints: number
  lemonsqueezyApiUrl: string
  /** Undefined: paddle's own, live or sandbox depending on the key. */
  paddleApiUrl: string | undefined
  polarApiUrl: string
  /** How long one request to a provider may take. */
  timeLimitMs: number
}

/** The APIs of the payment providers. Only this folder uses their SDKs. */
export type Providers = {
  card: CardProvider
  /** The platform's share of each sale of an account that is connected through it, in hundredths of a percent. */
  platformFeeBasisPoints: number
  /** Whether the installation has a key of its own at the card provider. */
  hasPlatformKey: boolean
  /** The secret of the card provider's notifications; undefined when the platform has none. */
  cardWebhookSecret: string | undefined
  /**
   * Tests an API key with a request that changes nothing.
   * @throws ProviderRefused, ProviderUnavailable
   */
  checkApiKey(provider: Exclude<Marketplace, 'gumroad'>, apiKey: string): Promise<void>
  /**
   * Lists what the vendor sells there, within a few seconds.
   * @throws ProviderRefused for a key that may not, ProviderUnavailable
   */
  listOffered(provider: Exclude<Marketplace, 'gumroad'>, apiKey: string): Promise<Offered>
  /**
   * The webhook endpoints of a vendor's account.
   * @param storeId at lemonsqueezy, for an account with several stores
   */
  endpoints(provider: Exclude<Provider, 'gumroad'>, apiKey: string, storeId?: string): ProviderEndpoints
  /**
   * Reads a subscription at lemonsqueezy.
   * @returns the order that began it and the end of the paid period; undefined when there is none
   * @throws ProviderRefused, ProviderUnavailable
   */
  readSubscription(apiKey: string, subscriptionId: string): Promise<PaidSubscription | undefined>
  /**
   * Reads all items of an order at lemonsqueezy, the first one first.
   * @throws ProviderRefused, ProviderUnavailable
   */
  readOrderItems(apiKey: string, orderId: string): Promise<OrderItem[]>
  /**
   * Reads a customer at paddle; null for one without an email address.
   * @throws ProviderRefused, ProviderUnavailable
   */
  readCustomer(apiKey: string, customerId: string): Promise<Buyer | null>
  /** Whether the integration uses the provider's sandbox, which moves no money. */
  isSandbox(provider: 'paddle' | 'polar', apiKey: string | undefined): boolean
}

type PaidSubscription = { orderId: string; paidUntil: string }

export function createProviders(settings: ProviderSettings): Providers {
  const { timeLimitMs } = settings
  const card = createStripe(
    settings.stripeApiUrl,
    settings.stripeSecretKey,
    timeLimitMs,
    settings.platformFeeBasisPoints,
  )
  return {
    cardWebhookSecret: settings.stripeWebhookSecret,
    platformFeeBasisPoints: settings.platformFeeBasisPoints,
    hasPlatformKey: settings.stripeSecretKey !== undefined,
    card,
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
    async listOffered(provider, apiKey) {
      const withinMs = Math.min(timeLimitMs, offeredWithinMs)
      switch (provider) {
        case 'lemonsqueezy':
          return listVariants(settings.lemonsqueezyApiUrl, apiKey, withinMs)
        case 'paddle':
          return listPrices(settings.paddleApiUrl, apiKey, withinMs)
        case 'polar':
          return listProducts(settings.polarApiUrl, apiKey, withinMs)
      }
    },
    endpoints(provider, apiKey, storeId) {
      switch (provider) {
        case 'stripe':
          return card.endpoints(apiKey)
        case 'lemonsqueezy':
          return lemonSqueezyEndpoints(settings.lemonsqueezyApiUrl, { apiKey, storeId }, timeLimitMs)
        case 'paddle':
          return paddleEndpoints(settings.paddleApiUrl, apiKey, timeLimitMs)
        case 'polar':
          return polarEndpoints(settings.polarApiUrl, apiKey, timeLimitMs)
      }
    },
    readSubscription: (apiKey, id) => readSubscription(settings.lemonsqueezyApiUrl, apiKey, id, timeLimitMs),
    readOrderItems: (apiKey, id) => readOrderItems(settings.lemonsqueezyApiUrl, apiKey, id, timeLimitMs),
    readCustomer: (apiKey, id) => readCustomer(settings.paddleApiUrl, apiKey, id, timeLimitMs),
    isSandbox: (provider, apiKey) =>
      provider === 'paddle'
        ? apiKey !== undefined && isSandboxKey(apiKey)
        : new URL(settings.polarApiUrl).hostname === 'sandbox-api.polar.sh',
  }
}
