import type { SigningMarketplace } from '../../domain/integrations/provider.ts'

/** What gumroad calls for each sale; the token is all that it proves itself with. */
export const pingUrlOf = (baseUrl: string, tenantId: string, token: string): string =>
  `${baseUrl}/webhooks/gumroad/${tenantId}?token=${encodeURIComponent(token)}`

/** What gumroad is to be subscribed with, through its API, for refunds, disputes and endings. */
export const resourcesUrlOf = (baseUrl: string, tenantId: string, token: string): string =>
  `${baseUrl}/webhooks/gumroad/${tenantId}/resources?token=${encodeURIComponent(token)}`

export const webhookUrlOf = (baseUrl: string, tenantId: string, provider: SigningMarketplace): string =>
  `${baseUrl}/webhooks/${provider}/${tenantId}`
