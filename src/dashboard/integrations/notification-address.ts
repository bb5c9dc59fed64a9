import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import type { Provider } from '../../domain/integrations/provider.ts'
import { type Content, html } from '../../html.ts'
import { stripeWebhookUrlOf, webhookUrlOf } from '../../payments/addresses.ts'
import { faultOfUrl } from '../../webhooks/targets.ts'
import { notice } from '../frame/parts.ts'

type Place = {
  baseUrl: string
  tenantId: string
  provider: Provider
  integration: KnownIntegration | undefined
}

/**
 * Where a provider sends its notifications: Stripe those of a platform's accounts to one address for all workspaces.
 * @returns undefined for Gumroad, whose address holds a secret and is shown once
 */
export function notificationAddressOf({
  baseUrl,
  tenantId,
  provider,
  integration,
}: Place): string | undefined {
  if (provider === 'gumroad') return undefined
  if (provider !== 'stripe') return webhookUrlOf(baseUrl, tenantId, provider)
  const isPlatforms = integration?.status === 'connected' && integration.ownAccount === null
  return stripeWebhookUrlOf(baseUrl, isPlatforms ? undefined : tenantId)
}

/** Said wherever an address is to be pasted at a provider, if providers cannot reach it. */
export const unreachableNotice = (baseUrl: string): Content =>
  faultOfUrl(new URL(baseUrl), { allowPrivate: false }) !== undefined &&
  notice(
    'warn',
    html`Payment providers cannot reach <code>${baseUrl}</code>: they need https at a public address. Put a proxy with TLS or a
      tunnel (such as <code>cloudflared</code> or <code>ngrok</code>) before
      keyledger, and set <code>KEYLEDGER_BASE_URL</code> to the public address when you start it.`,
  )
