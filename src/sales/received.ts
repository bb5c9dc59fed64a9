import { sha256 } from '../credentials/sha256.ts'
import { SaleReceived, unknownProduct } from '../domain/sales/events.ts'
import { saleKeyName } from '../domain/sales/items.ts'
import type { PaymentNotification } from '../payments/notification.ts'
import type { Ports } from '../ports.ts'
import { inUtc } from './facts.ts'

export type SoldNotification = Extract<PaymentNotification, { type: 'sold' }>

/** Keeps a notification as it was received in the vault. @returns its name there */
export async function keepPayload(
  ports: Ports<'secrets'>,
  tenantId: string,
  { provider, notificationId }: PaymentNotification,
  raw: string,
): Promise<string> {
  const name = `notification.${provider}.${sha256(notificationId)}`
  await ports.secrets.keep(tenantId, name, raw)
  return name
}

/** The ids by which later notifications may name the sale; each once. */
export function linksOf({ saleId, links }: SoldNotification): string[] {
  return [...new Set([`sale:${saleId}`, ...links])]
}

/** Everything that was bought, as a mapping needs it, the first item first. */
export function boughtIn({ sold, quantity, priceId, line, more = [] }: SoldNotification) {
  return [{ sold, quantity, priceId, line }, ...more].map((item) => ({
    ...item,
    sold: 'productId' in item.sold ? { ...item.sold, keyTypeId: item.sold.keyTypeId ?? null } : item.sold,
  }))
}

/** What `SaleReceived` holds: the payload and the buyer are sealed in the vault first. */
export async function receivedFrom(
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
