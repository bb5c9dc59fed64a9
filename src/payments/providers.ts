import type { ProviderWithApi, SigningMarketplace } from '../domain/integrations/provider.ts'
import type { ProviderEndpoints } from './endpoints.ts'
import type { NamedPayment } from './invoice-page.ts'
import { type Offered, offeredWithinMs } from './offered.ts'
import type { ConnectionContext, Incoming } from './payment-provider.ts'
import { paymentProviders } from './registry.ts'
import { type CardProvider, createStripe } from './stripe/api.ts'
import type { Translated } from './translated.ts'

export type ProviderSettings = {
  /** The platform's own key at the card provider; without it no account can be connected. */
  stripeSecretKey: string | undefined
  /**
   * The secret of the card provider's notifications for all connected accounts; without it they are rejected.
   */
  stripeWebhookSecret: string | undefined
  /** The platform's share of each sale, in hundredths of a percent. */
  platformFeeBasisPoints: number
  apiUrls: Readonly<Record<ProviderWithApi, string>>
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
  checkApiKey(provider: ProviderWithApi, apiKey: string): Promise<void>
  /**
   * Lists what the vendor sells there, within a few seconds.
   * @throws ProviderRefused for a key that may not, ProviderUnavailable
   */
  listOffered(provider: SigningMarketplace, apiKey: string): Promise<Offered>
  /**
   * Where the customer reads the invoice or receipt of a payment.
   * @returns undefined when the provider has none
   * @throws ProviderRefused for a key that may not, ProviderUnavailable
   */
  invoicePage(
    provider: SigningMarketplace,
    apiKey: string,
    payment: NamedPayment,
  ): Promise<string | undefined>
  /**
   * The webhook endpoints of a vendor's account.
   * @param storeId at lemonsqueezy, for an account with several stores
   */
  endpoints(provider: ProviderWithApi, apiKey: string, storeId?: string): ProviderEndpoints
  /**
   * Translates a verified notification, with what only the provider itself knows of it.
   * @throws ProviderUnavailable, ProviderRefused when the provider has to be asked and does not answer
   */
  translate(
    provider: SigningMarketplace,
    incoming: Incoming,
    connection: Pick<ConnectionContext, 'apiKey' | 'isMapped' | 'now'>,
  ): Promise<Translated>
}

/** The providers, at the addresses of the settings. */
export function createProviders({ apiUrls, timeLimitMs, ...settings }: ProviderSettings): Providers {
  const { stripeSecretKey: platformKey, platformFeeBasisPoints } = settings
  const card = createStripe(apiUrls.stripe, platformKey, timeLimitMs, platformFeeBasisPoints)
  return {
    cardWebhookSecret: settings.stripeWebhookSecret,
    platformFeeBasisPoints,
    hasPlatformKey: platformKey !== undefined,
    card,
    checkApiKey: (provider, apiKey) =>
      provider === 'stripe'
        ? card.checkKey(apiKey)
        : paymentProviders[provider].checkApiKey(apiUrls[provider], apiKey, timeLimitMs),
    listOffered: (provider, apiKey) =>
      paymentProviders[provider].listOffered(
        apiUrls[provider],
        apiKey,
        Math.min(timeLimitMs, offeredWithinMs),
      ),
    invoicePage: (provider, apiKey, payment) =>
      paymentProviders[provider].invoicePage(apiUrls[provider], apiKey, payment, timeLimitMs),
    endpoints: (provider, apiKey, storeId) =>
      provider === 'stripe'
        ? card.endpoints(apiKey)
        : paymentProviders[provider].endpoints(apiUrls[provider], apiKey, timeLimitMs, storeId),
    translate: (provider, incoming, connection) =>
      paymentProviders[provider].translate(incoming, {
        ...connection,
        apiUrl: apiUrls[provider],
        timeLimitMs,
      }),
  }
}
