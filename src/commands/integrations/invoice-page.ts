import { findIntegration } from '../../../projections/integrations.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import type { Ports } from '../../ports.ts'
import { canListOffered, cardAccessFor } from './offered.ts'

type OfSale = Pick<KnownSale, 'ownLinks' | 'provider' | 'saleId' | 'tenantId'>

/** Whether the provider of a sale can be asked where its invoices are. Gumroad, which has no such question, mails a receipt. */
export async function hasInvoicePages({ db }: Ports<'db'>, { tenantId, provider }: OfSale): Promise<boolean> {
  const integration = provider === 'gumroad' ? undefined : await findIntegration(db, tenantId, provider)
  return integration !== undefined && canListOffered(integration)
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
  const payment = { saleId, paymentId, links }
  const integration = provider === 'gumroad' ? undefined : await findIntegration(ports.db, tenantId, provider)
  if (!integration || provider === 'gumroad' || !canListOffered(integration)) return undefined
  if (provider === 'stripe') {
    const access = await cardAccessFor(ports, integration)
    return access && ports.providers.card.readInvoicePage(access, payment)
  }
  const { apiKey } = integration.credentials
  const key = apiKey === null ? undefined : await ports.secrets.open(tenantId, apiKey)
  return key === undefined ? undefined : ports.providers.invoicePage(provider, key, payment)
}
