import { findIntegration } from '../../../projections/integrations.ts'
import type { Provider } from '../../domain/integrations/provider.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import type { Ports } from '../../ports.ts'
import { apiKeyOf } from './api-key.ts'
import { canBeAsked, cardAccessFor } from './offered.ts'

type OfSale = Pick<KnownSale, 'ownLinks' | 'provider' | 'saleId' | 'tenantId'>

/** Those of the providers that can be asked where invoices are. Gumroad, which has no such question, mails a receipt. */
export async function providersWithInvoices(
  { db }: Ports<'db'>,
  tenantId: string,
  providers: readonly Provider[],
): Promise<ReadonlySet<Provider>> {
  const asked = [...new Set(providers)].filter((provider) => provider !== 'gumroad')
  const found = await Promise.all(asked.map((provider) => findIntegration(db, tenantId, provider)))
  return new Set(
    found.flatMap((integration) => (integration && canBeAsked(integration) ? integration.provider : [])),
  )
}

/**
 * Asks the provider of a sale where its customer reads the invoice or receipt of a payment. The address is not kept: it often works for
 * an hour only.
 * @param paymentId the provider's id of a payment after the first; null for the first
 * @returns undefined when the provider has none, or cannot be asked
 * @throws ProviderRefused, ProviderUnavailable
 * @throws Refusal `platform_key_missing`, `platform_key_refused`
 */
export async function invoicePageOf(
  ports: Ports<'db' | 'providers' | 'secrets'>,
  { tenantId, provider, saleId, ownLinks: links }: OfSale,
  paymentId: string | null,
): Promise<string | undefined> {
  if (provider === 'gumroad') return undefined
  const payment = { saleId, paymentId, links }
  const integration = await findIntegration(ports.db, tenantId, provider)
  if (!integration || !canBeAsked(integration)) return undefined
  if (provider === 'stripe') {
    const access = await cardAccessFor(ports, integration)
    return access && ports.providers.card.readInvoicePage(access, payment)
  }
  const key = await apiKeyOf(ports, integration)
  return key === undefined ? undefined : ports.providers.invoicePage(provider, key, payment)
}
