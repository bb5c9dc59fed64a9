import { SaleFact } from '../domain/sales/events.ts'
import type { PaymentNotification } from '../payments/notification.ts'

/**
 * A later notification about a sale as the fact that the log records. It is parsed, so that the log never holds what the
 * schema cannot read.
 * @param payload the vault's name of the notification as it was received
 */
export function factFrom(
  notification: Exclude<PaymentNotification, { type: 'sold' }>,
  payload: string,
  at: string,
): SaleFact {
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

const momentOrNull = (moment: string | null | undefined): string | null => (moment ? inUtc(moment) : null)

/** A time in UTC, truncated to the second, as licenses expire. */
export function inUtc(moment: string): string {
  const date = new Date(moment)
  date.setUTCMilliseconds(0)
  return date.toISOString()
}
