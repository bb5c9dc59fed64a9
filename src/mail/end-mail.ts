import { readContents } from '../../projections/deliveries/content.ts'
import { findOpenPortal } from '../../projections/portal.ts'
import { findSaleOfLicense } from '../../projections/sales/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { isOfEnd } from '../domain/deliveries/outbox.ts'
import { graceUntilOf } from '../domain/licenses/grace.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { statusAt } from '../domain/licenses/status.ts'
import type { EndMailFacts } from '../domain/mails/end-mail.ts'
import { portalUrl } from '../domain/portal/portal.ts'
import { findKeyType } from '../domain/products/product.ts'
import { isSubscription } from '../domain/sales/payments.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'

/**
 * What to tell the holder of a license of its end; undefined when there is nothing to tell any more: it was renewed or stopped
 * meanwhile, the person was erased, or a subscription goes on that renews it.
 * @param now the moment at which it is sent
 */
export async function endMailFactsOf(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  { licenseRevision: revision }: KnownDelivery,
  license: IssuedLicense,
  baseUrl: string,
  now: string,
): Promise<EndMailFacts | undefined> {
  const { tenantId, licenseId, productId, keyTypeId, displayKey } = license
  const [content] = await readContents(ports.db, [{ licenseId, revision }])
  if (!content || !isOfEnd(content.event)) throw new Error(`${licenseId} tells of no end at ${revision}`)
  const { type, data } = content.event
  if (license.expiresAt !== data.expiresAt) return undefined
  const status = statusAt(license, now)
  const isAhead = type === 'LicenseExpiring'
  if (isAhead ? status !== 'active' || now >= data.expiresAt : status !== 'expired' && status !== 'fallback')
    return undefined
  const [[person], product, tenant, portal, sale] = await Promise.all([
    ports.subjects.openPeople(tenantId, [license.holder]),
    ports.findProduct(tenantId, productId),
    findTenant(ports.db, tenantId),
    findOpenPortal(ports.db, tenantId),
    findSaleOfLicense(ports.db, tenantId, licenseId),
  ])
  if (!person?.email) return undefined
  if (isAhead && sale && goesOn(sale)) return undefined
  return {
    what: isAhead ? 'expiring' : status === 'fallback' ? 'fellBack' : 'expired',
    customer: { email: person.email, name: person.name },
    vendorName: tenant?.name ?? tenantId,
    productName: product?.name ?? productId,
    keyTypeName: (product && findKeyType(product, keyTypeId)?.name) ?? keyTypeId,
    displayKey,
    expiresAt: data.expiresAt,
    graceUntil: graceUntilOf(license),
    portalUrl: portal ? portalUrl(baseUrl, tenantId) : null,
    language: sale?.language ?? null,
  }
}

/** Whether the license is paid for by a subscription that has not ended: its next payment renews it. */
const goesOn = (sale: KnownSale): boolean => isSubscription(sale) && sale.facts.ends.length === 0
