import type { ProviderWithApi, SigningMarketplace } from '../domain/integrations/provider.ts'

/** The URL that Gumroad calls for each sale. The token in it is the only authentication. */
export const pingUrlOf = (baseUrl: string, tenantId: string, token: string): string =>
  `${baseUrl}/webhooks/gumroad/${tenantId}?token=${encodeURIComponent(token)}`

/** The URL for Gumroad's resource subscriptions: refunds, disputes and cancellations. */
export const resourcesUrlOf = (baseUrl: string, tenantId: string, token: string): string =>
  `${baseUrl}/webhooks/gumroad/${tenantId}/resources?token=${encodeURIComponent(token)}`

/** The URL for Stripe's notifications: of a tenant's own account, or of all accounts of the platform. */
export const stripeWebhookUrlOf = (baseUrl: string, tenantId: string | undefined): string =>
  `${baseUrl}/api/stripe/webhook/${tenantId ?? 'connect'}`

export const webhookUrlOf = (baseUrl: string, tenantId: string, provider: SigningMarketplace): string =>
  `${baseUrl}/webhooks/${provider}/${tenantId}`

/** Where a page of Stripe's onboarding leads a person back to. */
export const onboardingPath = (tenantId: string, what: 'return' | 'refresh'): string =>
  `/api/stripe/connect/${tenantId}/${what}`

/** The URLs to which Stripe returns a person, with the state that shows that keyledger sent them. */
export const onboardingAddresses =
  (baseUrl: string, tenantId: string) =>
  (state: string): { returnUrl: string; refreshUrl: string } => ({
    returnUrl: `${baseUrl}${onboardingPath(tenantId, 'return')}?state=${encodeURIComponent(state)}`,
    refreshUrl: `${baseUrl}${onboardingPath(tenantId, 'refresh')}?state=${encodeURIComponent(state)}`,
  })

/** Where a tenant's own endpoint at a provider sends its notifications. */
export const endpointUrlOf = (baseUrl: string, tenantId: string, provider: ProviderWithApi): string =>
  provider === 'stripe' ? stripeWebhookUrlOf(baseUrl, tenantId) : webhookUrlOf(baseUrl, tenantId, provider)
