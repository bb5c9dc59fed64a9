import { hasTestMode } from '../../projections/products/test-mode.ts'
import { findSale } from '../../projections/sales/queries.ts'
import { findTestPurchase } from '../../projections/test-purchases/queries.ts'
import { waitOnce } from '../commands/cross-stream/wait-once.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { isId } from '../credentials/id.ts'
import { sha256 } from '../credentials/sha256.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { Refusal } from '../domain/refusal.ts'
import { type ParkedReason, SaleEvent } from '../domain/sales/events.ts'
import { saleKeyName } from '../domain/sales/key.ts'
import type { KnownSale, SaleCommand } from '../domain/sales/sale.ts'
import type { Loaded } from '../ledger/load.ts'
import type { PaymentNotification } from '../payments/notification.ts'
import type { Ports } from '../ports.ts'
import { type IgnoredReason, type IgnoredTest, noteIgnoredTest } from '../usage/ignored-tests.ts'
import { factFrom, inUtc } from './facts.ts'
import { type Resolved, resolveSale } from './mapping.ts'
import type { SalePorts } from './ports.ts'
import { advanceSale } from './process.ts'
import { bindLinks, changeSale, keepNotice, loadSale, saleOfLink } from './streams.ts'

/** What came of a notification, when it was taken in. */
export type ReceivedOutcome =
  /** The raw key is nowhere else in the answer to anything. */
  | { outcome: 'issued'; saleId: string; license: IssuedLicense; licenseKey: string }
  /** The sale has its license already. */
  | { outcome: 'duplicate' }
  /** A renewal, refund, dispute or end, also of a sale that is not known yet. */
  | { outcome: 'recorded' }
  /** Paid and kept, but nobody knows what to issue. */
  | { outcome: 'parked'; reason: ParkedReason; detail: string }
  /** A test where nothing is tested. */
  | { outcome: 'ignored'; reason: IgnoredReason }

type Told<Type extends PaymentNotification['type']> = Extract<PaymentNotification, { type: Type }>
type SoldNotification = Told<'sold'>

/**
 * Takes in what a payment provider tells, of a sale or of what became of it. The same may be told any number of times,
 * at the same time and in any order; when it has been answered nothing of it can be lost any more.
 * @param raw the notification as it came and was verified, which the vault keeps
 * @throws Refusal `tenant_not_found`, and `tenant_suspended` or `tenant_closed` for a sale, which is kept nevertheless
 */
export async function receiveNotification(
  services: SalePorts,
  tenantId: string,
  notification: PaymentNotification,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  return waitOnce(services, (steps) =>
    notification.type === 'sold'
      ? receiveSale(steps, tenantId, notification, raw, origin)
      : receiveFact(steps, tenantId, notification, raw, origin),
  )
}

async function receiveSale(
  services: Ports<
    | 'db'
    | 'deriveId'
    | 'execute'
    | 'findProduct'
    | 'keyTypes'
    | 'ledger'
    | 'newId'
    | 'now'
    | 'randomBytes'
    | 'secrets'
    | 'subjects'
  >,
  tenantId: string,
  notification: SoldNotification,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const place = { tenantId, provider: notification.provider, saleId: notification.saleId }
  const found = await loadSale(services, place)
  if (found.state.status === 'absent') {
    const at = momentOf(services)
    const resolved = await resolveSale(services, { tenantId, ...boughtIn(notification) })
    const isTestPurchase = await belongsToTestPurchase(services, tenantId, notification.saleId)
    if (notification.test && !isTestPurchase && !resolved.product?.settings.testMode.enabled) {
      return ignoredTest(services, tenantId, notification, whyIgnored(resolved))
    }
    const test = notification.test || isTestPurchase
    const received = await receivedFrom(services, tenantId, { ...notification, test }, raw, at)
    const { sale, changed } = await changeSale(
      services,
      place,
      origin,
      () => ({ type: 'ReceiveSale', received, resolution: resolved.resolution }),
      found,
    )
    if (changed) return carriedOn(services, sale, origin, true)
  }
  return receiveAgain(services, tenantId, notification, origin)
}

type Why = Pick<IgnoredTest, 'reason' | 'detail'>

function whyIgnored({ resolution, product }: Resolved): Why {
  if (product) return { reason: 'product_not_in_test_mode', detail: product.productId }
  const detail = 'reason' in resolution ? resolution.detail : null
  const isNamed = 'reason' in resolution && resolution.reason === 'product_not_found'
  return { reason: isNamed ? 'product_not_found' : 'nothing_mapped', detail }
}

/** Lists a test that has no effect, so that its vendor finds out why. */
async function ignoredTest(
  services: Ports<'db' | 'now'>,
  tenantId: string,
  { provider, notificationId, type: kind }: PaymentNotification,
  why: Why,
): Promise<ReceivedOutcome> {
  await noteIgnoredTest(services.db, tenantId, { provider, notificationId, kind, ...why }, services.now())
  return { outcome: 'ignored', reason: why.reason }
}

async function receiveAgain(
  services: Ports<
    'db' | 'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
  >,
  tenantId: string,
  notification: SoldNotification,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const { provider, saleId, notificationId } = notification
  const { sale } = await changeSale(services, { tenantId, provider, saleId }, origin, (at) => ({
    type: 'ReceiveAgain',
    notificationId,
    links: linksOf(notification),
    at,
  }))
  const resolved = sale.state.status === 'parked' ? await resolveAgain(services, sale, origin) : sale
  return carriedOn(services, resolved, origin)
}

/** Looks again whether it is known by now what to issue for a parked sale. */
async function resolveAgain(
  services: Ports<'db' | 'execute' | 'findProduct' | 'now'>,
  found: Loaded<KnownSale>,
  origin: Origin,
): Promise<Loaded<KnownSale>> {
  const { resolution } = await resolveSale(services, found.state)
  const resolved = (at: string): SaleCommand => ({ type: 'ResolveSale', resolution, at })
  return (await changeSale(services, found.state, origin, resolved, found)).sale
}

async function carriedOn(
  services: Ports<
    'db' | 'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets'
  >,
  found: Loaded<KnownSale>,
  origin: Origin,
  isNew = false,
): Promise<ReceivedOutcome> {
  const { sale, issued } = await advanceSale(services, found, origin, isNew)
  if (issued) return { outcome: 'issued', saleId: sale.saleId, ...issued }
  if (!sale.parked) return { outcome: 'duplicate' }
  // What was told of it by another id than its own waits no longer for it to be licensed.
  const facts = await bindLinks(services, sale, origin)
  if (facts.length > 0) await changeSale(services, sale, origin, () => ({ type: 'RecordFacts', facts }))
  const { reason, detail } = sale.parked
  if (reason === 'tenant_suspended' || reason === 'tenant_closed') throw new Refusal(reason)
  return { outcome: 'parked', reason, detail }
}

/** A test purchase of our own is a sale whose id is the purchase's. */
async function belongsToTestPurchase(
  services: Ports<'db'>,
  tenantId: string,
  saleId: string,
): Promise<boolean> {
  if (!isId('tp', saleId)) return false
  const purchase = await findTestPurchase(services.db, tenantId, saleId)
  return purchase?.status === 'running'
}

/** Looks again what the subscription was changed to. */
async function reviewPlan(
  services: Ports<
    | 'db'
    | 'execute'
    | 'findProduct'
    | 'keyTypes'
    | 'ledger'
    | 'now'
    | 'randomBytes'
    | 'secrets'
    | 'untilVisible'
  >,
  found: Loaded<KnownSale>,
  origin: Origin,
): Promise<KnownSale> {
  const sale = await waitOnce(services, async (steps) => {
    const review = (at: string): SaleCommand => ({ type: 'ReviewPlan', at })
    const reviewed = await changeSale(steps, found.state, origin, review, found)
    return (await advanceSale(steps, reviewed.sale, origin)).sale
  })
  if (sale.unmappedPlan !== null) throw new Refusal('sale_still_parked')
  return sale
}

/**
 * Tries a parked sale once more, or brings the license to what its subscription was changed to.
 * @throws Refusal `sale_not_found`, `sale_not_parked`, `sale_still_parked`, `tenant_suspended`, `tenant_closed`
 */
export async function replaySale(
  services: Ports<
    | 'db'
    | 'execute'
    | 'findProduct'
    | 'keyTypes'
    | 'ledger'
    | 'now'
    | 'randomBytes'
    | 'secrets'
    | 'untilVisible'
  >,
  tenantId: string,
  id: string,
  origin: Origin,
): Promise<KnownSale> {
  const known = await findSale(services.db, tenantId, id)
  if (!known) throw new Refusal('sale_not_found')
  const { state: found, revision } = await loadSale(services, known)
  if (found.status === 'licensed' && found.unmappedPlan !== null) {
    return reviewPlan(services, { state: found, revision }, origin)
  }
  if (found.status !== 'parked') throw new Refusal('sale_not_parked')
  const { outcome } = await waitOnce(services, async (steps) =>
    carriedOn(steps, await resolveAgain(steps, { state: found, revision }, origin), origin),
  )
  if (outcome === 'parked') throw new Refusal('sale_still_parked')
  const { state: sale } = await loadSale(services, known)
  if (sale.status === 'absent') throw new Refusal('sale_not_found')
  return sale
}

async function receiveFact(
  services: Ports<
    'db' | 'execute' | 'findProduct' | 'keyTypes' | 'ledger' | 'now' | 'randomBytes' | 'secrets' | 'subjects'
  >,
  tenantId: string,
  notification: Exclude<PaymentNotification, SoldNotification>,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const { provider, link } = notification
  const place = { tenantId, provider, link }
  const isKnown = (await saleOfLink(services, place)) !== null
  if (notification.test && !isKnown && !(await hasTestMode(services.db, tenantId))) {
    const why = { reason: 'no_product_in_test_mode', detail: null } as const
    return ignoredTest(services, tenantId, notification, why)
  }
  const payload = await keptPayload(services, tenantId, notification, raw)
  const fact = factFrom(notification, payload, momentOf(services))
  const saleId = await keepNotice(services, place, fact, origin)
  if (saleId === null) return { outcome: 'recorded' }
  const { sale } = await changeSale(services, { tenantId, provider, saleId }, origin, () => ({
    type: 'RecordFacts',
    facts: [fact],
  }))
  await advanceSale(services, sale, origin)
  await forgetIfErased(services, sale.state, payload)
  return { outcome: 'recorded' }
}

/** The name under which the vault keeps a notification as it came, for as long as anybody may want to look at it. */
async function keptPayload(
  services: Ports<'secrets'>,
  tenantId: string,
  { provider, notificationId }: PaymentNotification,
  raw: string,
): Promise<string> {
  const name = `notification.${provider}.${sha256(notificationId)}`
  await services.secrets.keep(tenantId, name, raw)
  return name
}

/** Providers go on to tell of somebody who was erased, by name: what they tell counts, and how they said it is not kept. */
async function forgetIfErased(
  services: Ports<'secrets' | 'subjects'>,
  sale: KnownSale,
  payload: string,
): Promise<void> {
  if (sale.customer === null) return
  const [person] = await services.subjects.openPeople(sale.tenantId, [sale.customer])
  if (!person?.email) await services.secrets.destroy(sale.tenantId, payload)
}

function linksOf({ saleId, links }: SoldNotification): string[] {
  return [...new Set([`sale:${saleId}`, ...links])]
}

function boughtIn({ provider, sold, quantity, paidUntil }: SoldNotification) {
  return {
    provider,
    sold: 'productId' in sold ? { productId: sold.productId, keyTypeId: sold.keyTypeId ?? null } : sold,
    quantity,
    paidUntil: paidUntil === undefined ? null : inUtc(paidUntil),
  }
}

async function receivedFrom(
  services: Ports<'deriveId' | 'newId' | 'secrets' | 'subjects'>,
  tenantId: string,
  notification: SoldNotification,
  raw: string,
  at: string,
) {
  const { provider, saleId, sessionId, customer, amount, currency } = notification
  const [payload, buyer] = await Promise.all([
    keptPayload(services, tenantId, notification, raw),
    customer && services.subjects.sealPerson(tenantId, customer.email, customer.name ?? null),
  ])
  const licenseId = services.newId('lic')
  const { data } = SaleReceived.parse({
    type: 'SaleReceived',
    data: {
      id: services.deriveId('sal', tenantId, provider, saleId),
      tenantId,
      saleId,
      sessionId,
      links: linksOf(notification),
      ...boughtIn(notification),
      customer: buyer,
      amount,
      currency: currency.toLowerCase(),
      productName: notification.productName ?? 'Unknown product',
      test: notification.test,
      licenseId,
      keyName: saleKeyName(licenseId),
      notificationId: notification.notificationId,
      payload,
      occurredAt: inUtc(notification.at),
      at,
    },
  })
  return data
}

const [SaleReceived] = SaleEvent.options
