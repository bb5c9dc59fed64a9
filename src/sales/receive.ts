import { hasTestMode } from '../../projections/products/test-mode.ts'
import { findTestPurchase } from '../../projections/test-purchases.ts'
import { waitOnce } from '../commands/cross-stream/wait-once.ts'
import { momentOf, type Origin } from '../commands/origin.ts'
import { changeSale, loadSale } from '../commands/sales.ts'
import { isId } from '../credentials/id.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { PaymentNotification } from '../payments/notification.ts'
import type { Ports } from '../ports.ts'
import { advanceSale } from './advance.ts'
import { factFrom } from './facts.ts'
import { ignoredTest, whyIgnored } from './ignored-test.ts'
import { keepFact, saleOfLink } from './links.ts'
import { mapAgain, resolveItems } from './mapping.ts'
import { advanceToOutcome, type ReceivedOutcome } from './outcome.ts'
import type { AdvancePorts, SalePorts } from './ports.ts'
import { boughtIn, keepPayload, linksOf, receivedFrom, type SoldNotification } from './received.ts'

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
    const { provider } = notification
    const { resolutions, first } = await resolveItems(ports, { tenantId, provider }, boughtIn(notification))
    const isTestPurchase = await belongsToTestPurchase(ports, tenantId, notification.saleId)
    if (notification.test && !isTestPurchase && !first.product?.settings.testMode.enabled) {
      return ignoredTest(ports, tenantId, notification, whyIgnored(first))
    }
    const test = notification.test || isTestPurchase
    const received = await receivedFrom(ports, tenantId, { ...notification, test }, raw, at)
    const { sale, changed } = await changeSale(
      ports,
      place,
      origin,
      () => ({ type: 'ReceiveSale', received, resolutions }),
      loaded,
    )
    if (changed) return advanceToOutcome(ports, sale, origin, true)
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

async function receiveFact(
  ports: AdvancePorts & Ports<'subjects'>,
  tenantId: string,
  notification: Exclude<PaymentNotification, SoldNotification>,
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
