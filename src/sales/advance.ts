import type { PresentProduct } from '../../projections/products/queries.ts'
import { usingKeyType } from '../commands/cross-stream/key-type-use.ts'
import { customerByAddress } from '../commands/customers/by-address.ts'
import { keepKey } from '../commands/licenses/keys.ts'
import { issuedAs } from '../commands/licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../commands/origin.ts'
import { bindLinks, changeSale } from '../commands/sales.ts'
import { foreignKey, newLicenseKey } from '../credentials/license-key.ts'
import type { LicenseTerms } from '../domain/licenses/events.ts'
import type { SaleTerms } from '../domain/licenses/following.ts'
import { termsPaidFor } from '../domain/licenses/issue.ts'
import { absentLicense, type IssuedLicense, licenses } from '../domain/licenses/license.ts'
import type { Duration } from '../domain/products/key-type.ts'
import { findKeyType } from '../domain/products/product.ts'
import { Refusal } from '../domain/refusal.ts'
import type { AddedCredit } from '../domain/sales/credits.ts'
import type { ParkedReason } from '../domain/sales/events.ts'
import { itemsOf, type Resolution, type SaleItem } from '../domain/sales/items.ts'
import { isSubscription } from '../domain/sales/payments.ts'
import {
  failedRenewalsOf,
  type ItemOutcome,
  itemPaymentStatus,
  itemRenewals,
  type KnownSale,
  nextStep,
  pendingItems,
  type SaleCommand,
  type SaleStep,
} from '../domain/sales/sale.ts'
import { licenseStream } from '../domain/streams.ts'
import { LedgerUnavailable } from '../ledger/connection/unavailable.ts'
import type { Loaded } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import type { IgnoredReason } from '../usage/ignored-tests.ts'
import { creditItem, followCredits } from './credits.ts'
import { termsOfPlan } from './mapping.ts'

/** What the steps of a sale use. */
export type AdvancePorts = Ports<
  | 'counting'
  | 'db'
  | 'deriveId'
  | 'execute'
  | 'findProduct'
  | 'keptKeys'
  | 'keyTypes'
  | 'ledger'
  | 'newId'
  | 'now'
  | 'randomBytes'
  | 'secrets'
>

/** The outcome of a received notification. */
export type ReceivedOutcome =
  /** The only answer that holds the raw key. */
  | { outcome: 'issued'; saleId: string; license: IssuedLicense; licenseKey: string }
  /** The sale has what it sold already. */
  | { outcome: 'duplicate' }
  /** Credits were added; or a renewal, refund, dispute or end, also for a sale that is not known yet. */
  | { outcome: 'recorded' }
  /** Paid and kept, but it is not known what to issue. */
  | { outcome: 'parked'; reason: ParkedReason; detail: string }
  /** A test notification for a product that is not in test mode. */
  | { outcome: 'ignored'; reason: IgnoredReason }

/**
 * Advances a sale and returns the outcome.
 * @throws Refusal `tenant_suspended`, `tenant_closed` for a sale that is parked because of it
 */
export async function advanceToOutcome(
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<ReceivedOutcome> {
  const { sale, issued } = await advanceSale(ports, loaded, origin, isNew)
  if (issued) return { outcome: 'issued', saleId: sale.saleId, ...issued }
  // A notification at the same moment may have issued the license of a sale that is new here.
  if (!sale.parked) return { outcome: isNew && hasCreditsOnly(sale) ? 'recorded' : 'duplicate' }
  // Facts that were kept under its other links need not wait until it is licensed.
  const facts = await bindLinks(ports, sale, origin)
  if (facts.length > 0) await changeSale(ports, sale, origin, () => ({ type: 'RecordFacts', facts }))
  const { reason, detail } = sale.parked
  if (reason === 'tenant_suspended' || reason === 'tenant_closed') throw new Refusal(reason)
  return { outcome: 'parked', reason, detail }
}

const hasCreditsOnly = (sale: KnownSale): boolean => itemsOf(sale).every(({ credit }) => credit)

/** One step of a sale. It may be repeated, after a crash or by another process, and then changes nothing more. */
type Step = (
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew: boolean,
) => Promise<{ sale: Loaded<KnownSale>; issued?: Issued | undefined }>

/** A sale is received and mapped in one append, then licensed, and settled after every later notification. */
const steps: Record<SaleStep, Step> = { license: issueLicenses, settle }

/** Each step ends what another process would otherwise end, so only very many processes could need more. */
const maxSteps = 50

/**
 * Takes a sale's steps until none is left: its license exists and follows every recorded notification. Notifications,
 * replays and the resumption after a crash all call this. Any number of processes may do so at once, and each may be
 * killed at any point: the next one continues from what is recorded.
 * @param isNew the sale was received a moment ago, so no other process has taken a step
 * @returns the sale as it is now, and the license with its key if this call issued it
 * @throws LedgerUnavailable when too many others change the sale at the same time; Refusal as the steps
 */
export async function advanceSale(
  ports: AdvancePorts,
  loaded: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<{ sale: KnownSale; issued: Issued | undefined }> {
  let sale = loaded
  let issued: Issued | undefined
  for (let taken = 0; taken < maxSteps; taken++) {
    const step = nextStep(sale.state)
    if (step === undefined) return { sale: sale.state, issued }
    const outcome = await steps[step](ports, sale, origin, isNew && taken === 0)
    sale = outcome.sale
    issued ??= outcome.issued
  }
  throw new LedgerUnavailable(`too many concurrent attempts to process the sale ${sale.state.id}`)
}

/** A license that this call issued, with its raw key. */
type Issued = { license: IssuedLicense; licenseKey: string }

/**
 * Issues the licenses of all mapped items, adds the credits of others, and records that in one append, or parks the sale when the product or key type
 * of its only item was deleted meanwhile.
 * @param isNew no other process can have issued them, which saves a read
 */
async function issueLicenses(
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
    if ('reason' in result || 'credit' in result) return { item, ...result }
    const { productId, keyTypeId, expiresAt, startsWith } = result.first
    const waits = startsWith === null ? {} : ({ waits: true } as const)
    return { item, license: { productId, keyTypeId, expiresAt, ...waits } }
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

type ItemResult = { item: number; result: Issue | { credit: Omit<AddedCredit, 'at'> } }

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
    if (!item) continue
    const result = item.credit
      ? { credit: await creditItem(ports, sale, item, item.credit, origin) }
      : await issue(ports, sale, item, origin, isNew)
    results.push({ item: place, result })
  }
  return results
}

/** What each item is now that the first one cannot be licensed: another one becomes the first, if there is one. */
function resolutionsAfter(sale: KnownSale, results: readonly ItemResult[]): Resolution[] {
  return itemsOf(sale).map(({ productId, keyTypeId, exceeded, credit }, place): Resolution => {
    const result = results.find(({ item }) => item === place)?.result
    if (result && 'reason' in result) return result
    if (credit) return { credit }
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
  ports: AdvancePorts,
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
    // Tests make no customers.
    ...(sale.test
      ? { customerId: null }
      : await customerByAddress(ports, sale.tenantId, sale.customer, origin)),
    licenseId: item.licenseId,
    productId: product.productId,
    keyTypeId: keyType.keyTypeId,
    keyHash: key.keyHash,
    displayKey: key.displayKey,
    ...termsPaidFor(keyType, paidFor(sale, item), mappedAt),
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

const paidFor = (sale: KnownSale, { quantity }: SaleItem) => ({
  quantity,
  paidUntil: sale.paidUntil,
  isSubscription: isSubscription(sale),
})

function placeOf(sale: KnownSale) {
  return {
    tenantId: sale.tenantId,
    holder: sale.customer,
    source: sale.test ? ('test' as const) : ('sale' as const),
    saleId: sale.saleId,
    test: sale.test,
    metadata: {},
  }
}

/** Applies the recorded notifications to the license or the credit, and records that it did. */
async function settle(
  ports: Ports<'counting' | 'db' | 'execute' | 'findProduct' | 'keyTypes' | 'newId' | 'now'>,
  loaded: Loaded<KnownSale>,
  origin: Origin,
): Promise<{ sale: Loaded<KnownSale> }> {
  const { state: sale } = loaded
  const kept = sale.unboundLinks ? await bindLinks(ports, sale, origin) : []
  const isBehind = sale.settledThrough < sale.factCount
  const unmappedPlan = isBehind ? await followItems(ports, sale, origin) : undefined
  const credits = isBehind ? await followCredits(ports, sale, origin) : []
  const settled = (at: string): SaleCommand => ({
    type: 'SettleSale',
    through: sale.factCount,
    unmappedPlan,
    credits,
    boundLinks: sale.links,
    kept,
    at,
  })
  return changeSale(ports, sale, origin, settled, loaded)
}

/** Applies the facts to the license of each item. @returns the plan of one, if no key type is mapped to it */
async function followItems(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  sale: KnownSale,
  origin: Origin,
): Promise<string | null> {
  let unmapped: string | null = null
  for (const item of itemsOf(sale)) {
    if (item.licensedAt !== null) unmapped = (await followSale(ports, sale, item, origin)) ?? unmapped
  }
  return unmapped
}

/** Applies the facts and the plan to a license. @returns the plan, if no key type is mapped to it */
async function followSale(
  ports: Ports<'db' | 'execute' | 'findProduct' | 'keyTypes' | 'now'>,
  sale: KnownSale,
  item: SaleItem,
  origin: Origin,
  known?: PresentProduct,
): Promise<string | null> {
  const product = known ?? (await ports.findProduct(sale.tenantId, item.productId ?? ''))
  const { terms, unmapped } = await termsOfPlan(ports, sale, item, product)
  const follow = (proof?: () => Promise<void>) =>
    followOn(ports, sale, item, { product, terms, proof }, origin)
  if (terms === null || terms.keyTypeId === item.keyTypeId) await follow()
  else {
    const place = { tenantId: sale.tenantId, productId: item.productId ?? '', keyTypeId: terms.keyTypeId }
    const followed = await usingKeyType(ports, place, (proof) => follow(proof)).catch(undefinedIfKeyTypeGone)
    // The read models do not show yet that it is deleted.
    if (followed === undefined && product) {
      const keyTypes = product.keyTypes.filter(({ keyTypeId }) => keyTypeId !== terms.keyTypeId)
      return followSale(ports, sale, item, origin, { ...product, keyTypes })
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
  ports: Ports<'execute' | 'now'>,
  sale: KnownSale,
  item: SaleItem,
  { product, terms, proof }: Following,
  origin: Origin,
): Promise<boolean> {
  const { onRefund, onPaidInFull, expiringNotice } = product?.settings ?? {}
  const keepRefunded = onRefund === 'keep'
  const at = momentOf(ports)
  const { events } = await ports.execute(
    licenses,
    item.licenseId,
    {
      type: 'FollowSale',
      saleId: sale.saleId,
      through: sale.factCount,
      ...itemPaymentStatus(sale, item, { keepRefunded, onPaidInFull }),
      keepRefunded,
      terms,
      // One mail for the payment, however many licenses it would renew.
      failed: {
        renewals: failedRenewalsOf(sale),
        mail: expiringNotice !== undefined && item.licenseId === sale.licenseId,
      },
      updates: { paidAt: itemRenewals(sale, item), byKeyType: updatesByKeyType(product) },
      at,
    },
    causeOf(origin, at),
    { proof },
  )
  return events.length > 0
}

/** For how long a payment extends the updates of a license of each key type that has a period of them. */
const updatesByKeyType = (product: PresentProduct | undefined): ReadonlyMap<string, Duration> =>
  new Map(product?.keyTypes.flatMap(({ keyTypeId, updates }) => (updates ? [[keyTypeId, updates]] : [])))

/** For a `catch`: the read models may not show yet that a key type was deleted. @throws everything else */
function undefinedIfKeyTypeGone(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'key_type_not_found') throw error
}
