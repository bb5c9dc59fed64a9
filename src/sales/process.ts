import type { PresentProduct } from '../../projections/products/queries.ts'
import { usingKeyType } from '../commands/cross-stream/key-type-use.ts'
import { issuedAs } from '../commands/licenses/stream.ts'
import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { foreignKey, newLicenseKey } from '../credentials/license-key.ts'
import type { LicenseTerms } from '../domain/licenses/events.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { termsPaidFor } from '../domain/licenses/issue.ts'
import { absentLicense, type IssuedLicense, licenses } from '../domain/licenses/license.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import { isOpen, type KnownSale, type SaleCommand, saleStanding } from '../domain/sales/sale.ts'
import { licenseStream } from '../domain/streams.ts'
import type { Loaded } from '../ledger/load.ts'
import { LedgerUnavailable } from '../ledger/unavailable.ts'
import type { Ports } from '../ports.ts'
import { termsOfPlan } from './plan.ts'
import { bindLinks, changeSale } from './streams.ts'

type Issued = { license: IssuedLicense; licenseKey: string }

/** Each step ends what another process would otherwise end, so only a crowd of them could need more. */
const mostSteps = 50

/**
 * Carries a sale to where nothing is left to do: its license exists and is as everything that was told of the sale
 * wants it. Any number of processes may do so at once, and each may be killed at any point: whoever comes next goes
 * on from what is recorded.
 * @param isNew it was received a moment ago, so that nobody has got any further with it
 * @returns the sale as it is now, and the license with its key if it was issued here and now
 */
export async function advanceSale(
  services: Ports<
    'db' | 'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
  >,
  found: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<{ sale: KnownSale; issued: Issued | undefined }> {
  let sale = found
  let issued: Issued | undefined
  for (let step = 0; isOpen(sale.state); step++) {
    if (step === mostSteps)
      throw new LedgerUnavailable(`too many concurrent attempts to process the sale ${sale.state.id}`)
    if (sale.state.status === 'licensed') {
      sale = await settle(services, sale, origin)
      continue
    }
    const outcome = await licensed(services, sale, origin, isNew && step === 0)
    sale = outcome.sale
    issued ??= outcome.issued
  }
  return { sale: sale.state, issued }
}

async function licensed(
  services: Ports<'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  found: Loaded<KnownSale>,
  origin: Origin,
  isNew: boolean,
): Promise<{ sale: Loaded<KnownSale>; issued?: Issued | undefined }> {
  const { state: sale } = found
  const [license, kept] = await Promise.all([
    issue(services, sale, origin, isNew),
    bindLinks(services, sale, origin, isNew),
  ])
  if ('reason' in license) {
    const parked = (at: string): SaleCommand => ({ type: 'ResolveSale', resolution: license, at })
    return { sale: (await changeSale(services, sale, origin, parked, found)).sale }
  }
  const { productId, keyTypeId, expiresAt } = license.first
  const recorded = (at: string): SaleCommand => ({
    type: 'RecordLicense',
    license: { productId, keyTypeId, expiresAt },
    boundLinks: sale.links,
    kept,
    at,
  })
  const after = await changeSale(services, sale, origin, recorded, found)
  return { sale: after.sale, issued: license.issued }
}

type Issue = { first: IssuedLicense; issued?: Issued } | { reason: ParkedReason; detail: string }

/** Issues the license that the sale has chosen; the first append to its stream is the claim, so there is only one. */
async function issue(
  services: Ports<'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
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
  const minted = await usingKeyType(services, issued, (proof) =>
    services.execute(
      licenses,
      issued.licenseId,
      ({ status }) => (status === 'absent' ? { type: 'MintLicense', terms: issued } : undefined),
      causeOf(origin, at),
      { found: { state: before, revision: 'no_stream' }, proof },
    ),
  ).catch(unlessKeyTypeGone)
  if (!minted) return keyTypeGone
  const { state: license, events } = minted
  if (license.status === 'absent') throw new Error('a license that was issued is there')
  if (events.length > 0) return { first: license, issued: { license, licenseKey: kept } }
  const first = await issuedAs(services.ledger, stream)
  if (first.status === 'absent') throw new Error('a license that was issued is there')
  // Its own key was delivered and destroyed in the meantime: this one opens nothing.
  if (first.keyHash !== key.keyHash) await services.secrets.destroy(sale.tenantId, sale.keyName)
  return { first }
}

function unlessKeyTypeGone(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'key_type_not_found') throw error
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

/** Brings the license to where the facts want it, and says so. */
async function settle(
  services: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  found: Loaded<KnownSale>,
  origin: Origin,
): Promise<Loaded<KnownSale>> {
  const { state: sale } = found
  const kept = sale.unboundLinks ? await bindLinks(services, sale, origin) : []
  const isBehind = sale.settledThrough < sale.factCount
  const unmappedPlan = isBehind ? await followSale(services, sale, origin) : undefined
  const settled = (at: string): SaleCommand => ({
    type: 'SettleSale',
    through: sale.factCount,
    unmappedPlan,
    boundLinks: sale.links,
    kept,
    at,
  })
  return (await changeSale(services, sale, origin, settled, found)).sale
}

/** @returns what the subscription was changed to, if no key type is mapped to it */
async function followSale(
  services: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  sale: KnownSale,
  origin: Origin,
  known?: PresentProduct,
): Promise<string | null> {
  const product = known ?? (await services.findProduct(sale.tenantId, sale.productId ?? ''))
  const { terms, unmapped } = await termsOfPlan(services, sale, product)
  const follow = (proof?: () => Promise<void>) => followOn(services, sale, { product, terms, proof }, origin)
  if (terms === null || terms.keyTypeId === sale.keyTypeId) await follow()
  else {
    const place = { tenantId: sale.tenantId, productId: sale.productId ?? '', keyTypeId: terms.keyTypeId }
    const followed = await usingKeyType(services, place, (proof) => follow(proof)).catch(unlessKeyTypeGone)
    // The read models do not show yet that it is deleted.
    if (followed === undefined && product) {
      const keyTypes = product.keyTypes.filter(({ keyTypeId }) => keyTypeId !== terms.keyTypeId)
      return followSale(services, sale, origin, { ...product, keyTypes })
    }
  }
  return unmapped
}

type Following = {
  product: PresentProduct | undefined
  terms: SaleTerms | null
  proof: (() => Promise<void>) | undefined
}

/** @returns whether anything was recorded */
async function followOn(
  services: Ports<'execute' | 'now'>,
  sale: KnownSale,
  { product, terms, proof }: Following,
  origin: Origin,
): Promise<boolean> {
  const _stream = licenseStream(sale.licenseId)
  const keepRefunded = product?.settings.onRefund === 'keep'
  const at = momentOf(services)
  const { events } = await services.execute(
    licenses,
    sale.licenseId,
    {
      type: 'FollowSale',
      saleId: sale.saleId,
      through: sale.factCount,
      ...saleStanding(sale, keepRefunded),
      keepRefunded,
      terms,
      at,
    },
    causeOf(origin, at),
    { proof },
  )
  return events.length > 0
}
