import { usingKeyType } from '../commands/cross-stream/key-type-use.ts'
import { keepKey } from '../commands/licenses/kept-key.ts'
import { issuedAs } from '../commands/licenses/stream.ts'
import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { changeSale } from '../commands/sales.ts'
import { foreignKey, newLicenseKey } from '../credentials/license-key.ts'
import type { LicenseTerms } from '../domain/licenses/events.ts'
import { termsPaidFor } from '../domain/licenses/issue.ts'
import { absentLicense, type IssuedLicense, licenses } from '../domain/licenses/license.ts'
import { findKeyType } from '../domain/products/product.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Loaded } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { undefinedIfKeyTypeGone } from './key-type-gone.ts'
import { bindLinks } from './links.ts'
import type { AdvancePorts } from './ports.ts'

/** A license that this call issued, with its raw key. */
export type Issued = { license: IssuedLicense; licenseKey: string }

/**
 * Issues the license and records it, or parks the sale when its product or key type was deleted meanwhile.
 * @param isNew no other process can have issued it, which saves a read
 */
export async function issueLicense(
  services: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew: boolean,
): Promise<{ sale: Loaded<KnownSale>; issued?: Issued | undefined }> {
  const { state: sale } = loaded
  const [license, kept] = await Promise.all([
    issue(services, sale, origin, isNew),
    bindLinks(services, sale, origin, isNew),
  ])
  if ('reason' in license) {
    const parked = (at: string): SaleCommand => ({ type: 'ResolveSale', resolution: license, at })
    return { sale: (await changeSale(services, sale, origin, parked, loaded)).sale }
  }
  const { productId, keyTypeId, expiresAt } = license.first
  const recorded = (at: string): SaleCommand => ({
    type: 'RecordLicense',
    license: { productId, keyTypeId, expiresAt },
    boundLinks: sale.links,
    kept,
    at,
  })
  const after = await changeSale(services, sale, origin, recorded, loaded)
  return { sale: after.sale, issued: license.issued }
}

type Issue = { first: IssuedLicense; issued?: Issued } | { reason: ParkedReason; detail: string }

/** Issues the license whose id the sale has chosen. Its stream must not exist yet, so only one process succeeds. */
async function issue(
  services: Ports<
    'execute' | 'findProduct' | 'keptKeys' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
  >,
  sale: KnownSale,
  origin: Origin,
  isNew: boolean,
): Promise<Issue> {
  const stream = licenseStream(sale.licenseId)
  const before = isNew ? absentLicense : await issuedAs(services.ledger, stream)
  if (before.status === 'issued') return { first: before }
  const at = momentOf(services)
  const product = await services.findProduct(sale.tenantId, sale.productId ?? '')
  if (!product) return { reason: 'product_not_found', detail: sale.productId ?? sale.id }
  const keyType = findKeyType(product, sale.keyTypeId ?? '')
  const keyTypeGone: Issue = { reason: 'key_type_not_found', detail: sale.keyTypeId ?? sale.id }
  if (!keyType) return keyTypeGone
  const mappedAt = sale.mappedAt ?? sale.receivedAt
  const { licenseKey } = newLicenseKey(product.keyPrefix, services.randomBytes)
  const kept = await services.secrets.keep(sale.tenantId, sale.keyName, licenseKey)
  const key = foreignKey(kept)
  if (typeof key === 'string') throw new Error('a key made here can be taken in')
  const issued: LicenseTerms = {
    ...placeOf(sale),
    productId: product.productId,
    keyTypeId: keyType.keyTypeId,
    ...key,
    ...termsPaidFor(keyType, sale, mappedAt),
    onExpiry: keyType.onExpiry,
    createdAt: mappedAt,
    at,
  }
  await keepKey(services, product, issued, { licenseKey: kept, keyHash: key.keyHash })
  const minted = await usingKeyType(services, issued, (proof) =>
    services.execute(
      licenses,
      issued.licenseId,
      ({ status }) => (status === 'absent' ? { type: 'MintLicense', terms: issued } : undefined),
      causeOf(origin, at),
      { loaded: { state: before, revision: 'no_stream' }, proof },
    ),
  ).catch(undefinedIfKeyTypeGone)
  if (!minted) return keyTypeGone
  const { state: license, events } = minted
  if (license.status === 'absent') throw new Error('a license that was issued is there')
  if (events.length > 0) return { first: license, issued: { license, licenseKey: kept } }
  const first = await issuedAs(services.ledger, stream)
  if (first.status === 'absent') throw new Error('a license that was issued is there')
  // The license's own key was delivered and destroyed meanwhile: the key made here is of no use.
  if (first.keyHash !== key.keyHash) await services.secrets.destroy(sale.tenantId, sale.keyName)
  return { first }
}

function placeOf(sale: KnownSale) {
  return {
    licenseId: sale.licenseId,
    tenantId: sale.tenantId,
    holder: sale.customer,
    customerId: null,
    source: sale.test ? ('test' as const) : ('sale' as const),
    saleId: sale.saleId,
    test: sale.test,
    metadata: {},
  }
}
