import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import type { Offered } from '../../payments/offered.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import { apiKeyOf } from './api-key.ts'
import { ownAccessOf } from './own-account.ts'

/** Whether keyledger has a key of the connection, with which it can ask the provider. */
export const canBeAsked = ({ status, accountId, credentials }: KnownIntegration): boolean =>
  status === 'connected' && (credentials.apiKey !== null || accountId !== null)

/**
 * Lists what the vendor sells at a connected provider.
 * @returns undefined when no key of it is kept
 * @throws ProviderRefused when the key may not list it, ProviderUnavailable
 * @throws Refusal `platform_key_missing`, `platform_key_refused`
 */
export async function listOffered(
  ports: Ports<'providers' | 'secrets'>,
  integration: KnownIntegration,
): Promise<Offered | undefined> {
  const { provider } = integration
  if (!canBeAsked(integration) || provider === 'gumroad') return undefined
  if (provider === 'stripe') {
    const access = await cardAccessFor(ports, integration)
    return access && ports.providers.card.listPrices(access)
  }
  const key = await apiKeyOf(ports, integration)
  return key === undefined ? undefined : ports.providers.listOffered(provider, key)
}

/** How the card provider is called for a tenant; undefined where it is not connected so far. */
export async function cardAccessFor(
  ports: Ports<'secrets'>,
  integration: KnownIntegration,
): Promise<CardAccess | undefined> {
  if (integration.ownAccount) return ownAccessOf(ports, integration)
  return integration.accountId === null ? undefined : { accountId: integration.accountId }
}
