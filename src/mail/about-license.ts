import { findOpenPortal } from '../../projections/portal.ts'
import { findSaleOfLicense } from '../../projections/sales/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import type { PortalLanguage } from '../domain/portal/languages.ts'
import { portalUrl } from '../domain/portal/portal.ts'
import { findKeyType } from '../domain/products/product.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import type { SealedPerson } from '../vault/subjects.ts'

/** What every mail about a license says of it and of the one who gets the mail. */
export type AboutLicense = {
  customer: { email: string; name: string | null }
  vendorName: string
  productName: string
  keyTypeName: string
  portalUrl: string | null
  /** Of the customer, as far as it is known. */
  language: PortalLanguage | null
}

/**
 * Reads what a mail about a license says of it.
 * @param recipient its holder, or a person who has a seat of it
 * @returns also the sale that the license was issued for; undefined when the recipient has no address or was erased
 */
export async function aboutLicense(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  { tenantId, licenseId, productId, keyTypeId }: IssuedLicense,
  recipient: SealedPerson | null,
  baseUrl: string,
): Promise<{ about: AboutLicense; sale: KnownSale | undefined } | undefined> {
  const [person] = await ports.subjects.openPeople(tenantId, [recipient])
  if (!person?.email) return undefined
  const [product, tenant, portal, sale] = await Promise.all([
    ports.findProduct(tenantId, productId),
    findTenant(ports.db, tenantId),
    findOpenPortal(ports.db, tenantId),
    findSaleOfLicense(ports.db, tenantId, licenseId),
  ])
  return {
    about: {
      customer: { email: person.email, name: person.name },
      vendorName: tenant?.name ?? tenantId,
      productName: product?.name ?? productId,
      keyTypeName: (product && findKeyType(product, keyTypeId)?.name) ?? keyTypeId,
      portalUrl: portal ? portalUrl(baseUrl, tenantId) : null,
      language: sale?.language ?? null,
    },
    sale,
  }
}
