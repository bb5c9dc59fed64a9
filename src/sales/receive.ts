import { hasTestMode } from '../../projections/products/test-mode.ts'
import { findTestPurchase } from '../../projections/test-purchases.ts'
import { waitOnce } from '../commands/cross-stream/read-models.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { changeSale, keepFact, loadSale, saleOfLink } from '../commands/sales.ts'
import { isId } from '../credentials/id.ts'
import { sha256 } from '../credentials/sha256.ts'
import { saleKeyName } from '../domain/licenses/keys.ts'
import { SaleFact, SaleReceived, unknownProduct } from '../domain/sales/events.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { PaymentNotification } from '../payments/notification.ts'
import type { Ports } from '../ports.ts'
import { type IgnoredReason, type IgnoredTest, recordIgnoredTest } from '../usage/ignored-tests.ts'
import { type AdvancePorts, advanceSale, advanceToOutcome, type ReceivedOutcome } from './advance.ts'
import { mapAgain, type Resolved, resolveItems } from './mapping.ts'

/** What a sale needs on its way from a notification to its license. */
export type SalePorts = AdvancePorts & Ports<'deriveId' | 'newId' | 'subjects' | 'untilVisible'>

type SoldNotification = Extract<PaymentNotification, { type: 'sold' }>

type LaterNotification = Exclude<PaymentNotification, SoldNotification>

/**
 * Receives a verified notification about a sale, or about its payments later. It may arrive any number of times, several
 * times at once, and in any order. Once this returns, nothing of it can be lost.
 * @param raw the notification as it was received; the vault keeps it
 * @throws Refusal `tenant_not_found`, and `tenant_suspended` or `tenant_closed` for a sale, which is kept nevertheless
 */
export async function receiveNotification(
  ports: SalePorts,
  tenantId: string,
  notification: PaymentNotification,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  return waitOnce(ports, (nonWaiting) =>
    notification.type === 'sold'
      ? receiveSale(nonWaiting, tenantId, notification, raw, origin)
      : receiveFact(nonWaiting, tenantId, notification, raw, origin),
  )
}

type Why = Pick<IgnoredTest, 'reason' | 'detail'>

async function receiveSale(
  ports: AdvancePorts & Ports<'deriveId' | 'newId' | 'subjects'>,
  tenantId: string,
  notification: SoldNotification,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const place = { tenantId, provider: notification.provider, saleId: notification.saleId }
  const loaded = await loadSale(ports, place)
  if (loaded.state.status === 'absent') {
    const at = momentOf(ports)
    const { provider, customer, licenseId } = notification
    const subjectId = customer ? await ports.subjects.findSubject(tenantId, customer.email) : undefined
    const isTestPurchase = await belongsToTestPurchase(ports, tenantId, notification.saleId)
    const test = notification.test || isTestPurchase
    const sale = { tenantId, provider, buyer: { subjectId, licenseId, test } }
    const { resolutions, first } = await resolveItems(ports, sale, boughtIn(notification))
    if (notification.test && !isTestPurchase && !first.product?.settings.testMode.enabled) {
      return ignoredTest(ports, tenantId, notification, whyIgnored(first))
    }
    const received = await receivedFrom(ports, tenantId, { ...notification, test }, raw, at)
    const { sale: after, changed } = await changeSale(
      ports,
      place,
      origin,
      () => ({ type: 'ReceiveSale', received, resolutions }),
      loaded,
    )
    if (changed) return advanceToOutcome(ports, after, origin, true)
  }
  return receiveAgain(ports, tenantId, notification, origin)
}

async function receiveAgain(
  ports: AdvancePorts,
  tenantId: string,
  notification: SoldNotification,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const { provider, saleId, notificationId } = notification
  const { sale } = await changeSale(ports, { tenantId, provider, saleId }, origin, (at) => ({
    type: 'ReceiveAgain',
    notificationId,
    links: linksOf(notification),
    at,
  }))
  const resolved = sale.state.status === 'parked' ? await mapAgain(ports, sale, origin) : sale
  return advanceToOutcome(ports, resolved, origin)
}

/** Whether the sale is one of our own test purchases: it then has the purchase's id. */
async function belongsToTestPurchase(ports: Ports<'db'>, tenantId: string, saleId: string): Promise<boolean> {
  if (!isId('tp', saleId)) return false
  const purchase = await findTestPurchase(ports.db, tenantId, saleId)
  return purchase?.status === 'running'
}

/** Why a test notification has no effect. */
function whyIgnored({ resolution, product }: Resolved): Why {
  if (product) return { reason: 'product_not_in_test_mode', detail: product.productId }
  const detail = 'reason' in resolution ? resolution.detail : null
  const isNamed = 'reason' in resolution && resolution.reason === 'product_not_found'
  return { reason: isNamed ? 'product_not_found' : 'nothing_mapped', detail }
}

/** Everything that was bought, as a mapping needs it, the first item first. */
function boughtIn({ sold, quantity, priceId, line, more = [] }: SoldNotification) {
  return [{ sold, quantity, priceId, line }, ...more].map((item) => ({
    ...item,
    sold: 'productId' in item.sold ? { ...item.sold, keyTypeId: item.sold.keyTypeId ?? null } : item.sold,
  }))
}

/** The ids by which later notifications may name the sale; each once. */
function linksOf({ saleId, links }: SoldNotification): string[] {
  return [...new Set([`sale:${saleId}`, ...links])]
}

/** What `SaleReceived` holds: the payload and the buyer are sealed in the vault first. */
async function receivedFrom(
  ports: Ports<'deriveId' | 'newId' | 'secrets' | 'subjects'>,
  tenantId: string,
  notification: SoldNotification,
  raw: string,
  at: string,
) {
  const { provider, saleId, sessionId, orderNumber, customer, giver: given, amount, currency } = notification
  const [payload, buyer, giver] = await Promise.all([
    keepPayload(ports, tenantId, notification, raw),
    customer && ports.subjects.sealPerson(tenantId, customer.email, customer.name ?? null),
    given && ports.subjects.sealPerson(tenantId, given.email, given.name ?? null),
  ])
  const chosen = () => {
    const licenseId = ports.newId('lic')
    return { licenseId, keyName: saleKeyName(licenseId) }
  }
  const [first, ...items] = boughtIn(notification).map((item) => ({ ...item, ...chosen() }))
  const { paidUntil } = notification
  const { data } = SaleReceived.parse({
    type: 'SaleReceived',
    data: {
      id: ports.deriveId('sal', tenantId, provider, saleId),
      tenantId,
      saleId,
      sessionId,
      ...(orderNumber !== undefined && { orderNumber }),
      ...(notification.licenseId !== undefined && { creditLicenseId: notification.licenseId }),
      links: linksOf(notification),
      provider,
      ...first,
      ...(items.length > 0 && { items }),
      paidUntil: paidUntil === undefined ? null : inUtc(paidUntil),
      customer: buyer,
      ...(customer?.language && { language: customer.language }),
      ...(giver && { giver }),
      amount,
      currency: currency.toLowerCase(),
      productName: notification.productName ?? unknownProduct,
      test: notification.test,
      notificationId: notification.notificationId,
      payload,
      occurredAt: inUtc(notification.at),
      at,
    },
  })
  return data
}

async function receiveFact(
  ports: AdvancePorts & Ports<'subjects'>,
  tenantId: string,
  notification: LaterNotification,
  raw: string,
  origin: Origin,
): Promise<ReceivedOutcome> {
  const { provider, link } = notification
  const place = { tenantId, provider, link }
  const isKnown = (await saleOfLink(ports, place)) !== null
  if (notification.test && !isKnown && !(await hasTestMode(ports.db, tenantId))) {
    const why = { reason: 'no_product_in_test_mode', detail: null } as const
    return ignoredTest(ports, tenantId, notification, why)
  }
  const payload = await keepPayload(ports, tenantId, notification, raw)
  const fact = factFrom(notification, payload, momentOf(ports))
  const saleId = await keepFact(ports, place, fact, origin)
  if (saleId === null) return { outcome: 'recorded' }
  const { sale } = await changeSale(ports, { tenantId, provider, saleId }, origin, () => ({
    type: 'RecordFacts',
    facts: [fact],
  }))
  await advanceSale(ports, sale, origin)
  await forgetIfErased(ports, sale.state, payload)
  return { outcome: 'recorded' }
}

/** Providers keep naming a person who was erased. The fact stays recorded, and the notification as received is destroyed. */
async function forgetIfErased(
  ports: Ports<'secrets' | 'subjects'>,
  sale: KnownSale,
  payload: string,
): Promise<void> {
  if (sale.customer === null) return
  const [person] = await ports.subjects.openPeople(sale.tenantId, [sale.customer])
  if (!person?.email) await ports.secrets.destroy(sale.tenantId, payload)
}

/**
 * A later notification about a sale as the fact that the log records. It is parsed, so that the log never holds what the
 * schema cannot read.
 * @param payload the vault's name of the notification as it was received
 */
export function factFrom(notification: LaterNotification, payload: string, at: string): SaleFact {
  const { notificationId } = notification
  const common = { notificationId, payload, occurredAt: inUtc(notification.at), at }
  switch (notification.type) {
    case 'renewed': {
      const { paymentId, amount, currency, links = [] } = notification
      const paidUntil = momentOrNull(notification.paidUntil)
      return SaleFact.parse({
        type: 'SaleRenewed',
        data: { ...common, paymentId, links, paidUntil, amount, currency },
      })
    }
    case 'renewal_failed': {
      const { paymentId, attempt } = notification
      const periodEnd = momentOrNull(notification.periodEnd)
      const nextAttemptAt = momentOrNull(notification.nextAttemptAt)
      return SaleFact.parse({
        type: 'RenewalFailed',
        data: { ...common, paymentId, periodEnd, attempt, nextAttemptAt },
      })
    }
    case 'refunded': {
      const { refundId, amount, currency, full, cumulative = false, lines } = notification
      const payment = notification.payment ?? notification.link
      return SaleFact.parse({
        type: 'SaleRefunded',
        data: { ...common, refundId, payment, amount, cumulative, currency, full, ...(lines && { lines }) },
      })
    }
    case 'ended':
      return SaleFact.parse({
        type: 'SaleEnded',
        data: {
          ...common,
          paidUntil: momentOrNull(notification.paidUntil),
          ...(notification.paidInFull && { paidInFull: true }),
        },
      })
    case 'payment named': {
      const { names, isFirst } = notification
      const paidUntil = momentOrNull(notification.paidUntil)
      return SaleFact.parse({ type: 'PaymentNamed', data: { ...common, names, isFirst, paidUntil } })
    }
    case 'subscription': {
      const { links = [], sold = null, quantity = null, items, paused = null } = notification
      const paidUntil = momentOrNull(notification.paidUntil)
      return SaleFact.parse({
        type: 'SubscriptionTold',
        data: { ...common, links, sold, quantity, ...(items && { items }), paused, paidUntil },
      })
    }
    default: {
      const { type, disputeId, caseId, amount = null, currency = null } = notification
      const payment = notification.payment ?? notification.link
      return SaleFact.parse({
        type: disputeTypes[type],
        data: { ...common, disputeId, ...(caseId !== undefined && { caseId }), payment, amount, currency },
      })
    }
  }
}

const disputeTypes = {
  disputed: 'SaleDisputed',
  dispute_won: 'DisputeWon',
  dispute_lost: 'DisputeLost',
} as const

/** Lists a test that has no effect, so that its vendor finds out why. */
async function ignoredTest(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  { provider, notificationId, type: kind }: PaymentNotification,
  why: Why,
): Promise<{ outcome: 'ignored'; reason: IgnoredReason }> {
  await recordIgnoredTest(ports.db, tenantId, { provider, notificationId, kind, ...why }, ports.now())
  return { outcome: 'ignored', reason: why.reason }
}

/** Keeps a notification as it was received in the vault. @returns its name there */
async function keepPayload(
  ports: Ports<'secrets'>,
  tenantId: string,
  { provider, notificationId }: PaymentNotification,
  raw: string,
): Promise<string> {
  const name = `notification.${provider}.${sha256(notificationId)}`
  await ports.secrets.keep(tenantId, name, raw)
  return name
}

const momentOrNull = (moment: string | null | undefined): string | null => (moment ? inUtc(moment) : null)

/** A time in UTC, truncated to the second, as licenses expire. */
function inUtc(moment: string): string {
  const date = new Date(moment)
  date.setUTCMilliseconds(0)
  return date.toISOString()
}
