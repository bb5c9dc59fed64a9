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
import { itemsOf, type Resolution, type SaleItem } from '../domain/sales/items.ts'
import { type ItemOutcome, type KnownSale, pendingItems, type SaleCommand } from '../domain/sales/sale.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Loaded } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { undefinedIfKeyTypeGone } from './key-type-gone.ts'
import { bindLinks } from './links.ts'
import type { AdvancePorts } from './ports.ts'

/** A license that this call issued, with its raw key. */
export type Issued = { license: IssuedLicense; licenseKey: string }

/**
 * Issues the licenses of all mapped items and records them in one append, or parks the sale when the product or key type
 * of its only item was deleted meanwhile.
 * @param isNew no other process can have issued them, which saves a read
 */
export async function issueLicenses(
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew: boolean,
): Promise<{ sale: Loaded<KnownSale>; issued?: Issued | undefined }> {
  const { state: sale } = loaded
  const [results, kept] = await Promise.all([
    issueAll(ports, sale, origin, isNew),
    bindLinks(ports, sale, origin, isNew),
  ])
  if (results.some(({ item, result }) => item === 0 && 'reason' in result)) {
    const resolutions = resolutionsAfter(sale, results)
    const resolved = (at: string): SaleCommand => ({ type: 'ResolveSale', resolutions, at })
    return { sale: (await changeSale(ports, sale, origin, resolved, loaded)).sale }
  }
  const outcomes = results.map(({ item, result }): ItemOutcome => {
    if ('reason' in result) return { item, ...result }
    const { productId, keyTypeId, expiresAt } = result.first
    return { item, license: { productId, keyTypeId, expiresAt } }
  })
  const recorded = (at: string): SaleCommand => ({
    type: 'RecordLicenses',
    outcomes,
    boundLinks: sale.links,
    kept,
    at,
  })
  const after = await changeSale(ports, sale, origin, recorded, loaded)
  const issued = results.flatMap(({ result }) => ('issued' in result && result.issued ? [result.issued] : []))
  return { sale: after.sale, issued: issued[0] }
}

type ItemResult = { item: number; result: Issue }

async function issueAll(
  ports: AdvancePorts,
  sale: KnownSale,
  origin: Origin,
  isNew: boolean,
): Promise<ItemResult[]> {
  const items = itemsOf(sale)
  const results: ItemResult[] = []
  for (const place of pendingItems(sale)) {
    const item = items[place]
    if (item) results.push({ item: place, result: await issue(ports, sale, item, origin, isNew) })
  }
  return results
}

/** What each item is now that the first one cannot be licensed: another one becomes the first, if there is one. */
function resolutionsAfter(sale: KnownSale, results: readonly ItemResult[]): Resolution[] {
  return itemsOf(sale).map(({ productId, keyTypeId, exceeded }, place): Resolution => {
    const result = results.find(({ item }) => item === place)?.result
    if (result && 'reason' in result) return result
    const unmapped = sale.others[place - 1]?.unmapped
    if (productId === null || keyTypeId === null) {
      return unmapped ?? { reason: 'no_mapping', detail: sale.saleId }
    }
    return { productId, keyTypeId, ...(exceeded && { maxSold: exceeded.sold }) }
  })
}

type Issue = { first: IssuedLicense; issued?: Issued } | { reason: ParkedReason; detail: string }

/** Issues the license whose id the sale has chosen for an item. Its stream must not exist yet, so only one process succeeds. */
async function issue(
  ports: Ports<
    'execute' | 'findProduct' | 'keptKeys' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
  >,
  sale: KnownSale,
  item: SaleItem,
  origin: Origin,
  isNew: boolean,
): Promise<Issue> {
  const stream = licenseStream(item.licenseId)
  const before = isNew ? absentLicense : await issuedAs(ports.ledger, stream)
  if (before.status === 'issued') return { first: before }
  const at = momentOf(ports)
  const product = await ports.findProduct(sale.tenantId, item.productId ?? '')
  if (!product) return { reason: 'product_not_found', detail: item.productId ?? sale.id }
  const keyType = findKeyType(product, item.keyTypeId ?? '')
  const keyTypeGone: Issue = { reason: 'key_type_not_found', detail: item.keyTypeId ?? sale.id }
  if (!keyType) return keyTypeGone
  const mappedAt = item.mappedAt ?? sale.receivedAt
  const { licenseKey } = newLicenseKey(product.keyPrefix, ports.randomBytes)
  const kept = await ports.secrets.keep(sale.tenantId, item.keyName, licenseKey)
  const key = foreignKey(kept)
  if (typeof key === 'string') throw new Error('a key made here can be taken in')
  const issued: LicenseTerms = {
    ...placeOf(sale),
    licenseId: item.licenseId,
    productId: product.productId,
    keyTypeId: keyType.keyTypeId,
    keyHash: key.keyHash,
    displayKey: key.displayKey,
    ...termsPaidFor(keyType, { quantity: item.quantity, paidUntil: sale.paidUntil }, mappedAt),
    onExpiry: keyType.onExpiry,
    createdAt: mappedAt,
    at,
  }
  await keepKey(ports, product, issued, { licenseKey: kept, keyHash: key.keyHash })
  const minted = await usingKeyType(ports, issued, (proof) =>
    ports.execute(
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
  const first = await issuedAs(ports.ledger, stream)
  if (first.status === 'absent') throw new Error('a license that was issued is there')
  // The license's own key was delivered and destroyed meanwhile: the key made here is of no use.
  if (first.keyHash !== key.keyHash) await ports.secrets.destroy(sale.tenantId, item.keyName)
  return { first }
}

function placeOf(sale: KnownSale) {
  return {
    tenantId: sale.tenantId,
    holder: sale.customer,
    customerId: null,
    source: sale.test ? ('test' as const) : ('sale' as const),
    saleId: sale.saleId,
    test: sale.test,
    metadata: {},
  }
}
