import { Stripe } from 'stripe'
import type { PaymentNotification } from '../../src/payments/notification.ts'

const seconds = (moment: string) => Date.parse(moment) / 1000
const bare = (link: string) => link.slice(link.indexOf(':') + 1)

/** The event of a connected account by which stripe tells it, as it is sent. */
export function stripeEvent(told: PaymentNotification, account: string): string {
  const { type, object, before } = contentOf(told)
  return JSON.stringify({
    id: told.notificationId,
    object: 'event',
    account,
    type,
    livemode: !told.test,
    created: seconds(told.at),
    data: { object, ...(before && { previous_attributes: before }) },
  })
}

/** The headers with which stripe sends a body at this moment. */
export function stripeHeaders(payload: string, secret: string): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000)
  return {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }),
  }
}

function contentOf(told: PaymentNotification): { type: string; object: object; before?: object } {
  switch (told.type) {
    case 'sold':
      return { type: 'checkout.session.completed', object: sessionOf(told) }
    case 'renewed': {
      const object = {
        id: bare(told.links?.[0] ?? told.paymentId),
        object: 'invoice',
        billing_reason: 'subscription_cycle',
        amount_paid: told.amount,
        currency: told.currency,
        subscription: bare(told.link),
        lines: { data: [{ period: { end: seconds(told.paidUntil ?? told.at) } }] },
      }
      return { type: 'invoice.paid', object }
    }
    case 'renewal_failed': {
      const object = {
        id: told.paymentId,
        object: 'invoice',
        billing_reason: 'subscription_cycle',
        amount_paid: 0,
        currency: 'usd',
        attempt_count: told.attempt,
        next_payment_attempt: told.nextAttemptAt && seconds(told.nextAttemptAt),
        subscription: bare(told.link),
        lines: { data: [{ period: { end: seconds(told.periodEnd ?? told.at) } }] },
      }
      return { type: 'invoice.payment_failed', object }
    }
    case 'refunded': {
      const object = {
        id: `ch_${told.refundId}`,
        object: 'charge',
        amount_refunded: told.amount,
        currency: told.currency,
        refunded: told.full,
        payment_intent: bare(told.link),
      }
      return { type: 'charge.refunded', object, before: { amount_refunded: 0 } }
    }
    case 'ended': {
      const object = {
        id: bare(told.link),
        object: 'subscription',
        current_period_end: told.paidUntil && seconds(told.paidUntil),
      }
      return { type: 'customer.subscription.deleted', object }
    }
    case 'payment named': {
      const [invoice = '', payment = ''] = told.names.map(bare)
      const object = { invoice, payment: { type: 'payment_intent', payment_intent: payment } }
      return { type: 'invoice_payment.paid', object }
    }
    case 'subscription': {
      const { sold, quantity = 1, paused = false } = told
      const items = (price: string) => ({ data: [{ price: { id: price }, quantity }] })
      const object = {
        id: bare(told.link),
        object: 'subscription',
        pause_collection: paused ? { behavior: 'void' } : null,
        items: items(sold?.providerProduct ?? 'price_1'),
      }
      const before = { pause_collection: null, ...(sold && { items: items('price_before') }) }
      return { type: 'customer.subscription.updated', object, before }
    }
    default: {
      const { type, disputeId, amount, currency, link } = told
      const status = { disputed: 'needs_response', dispute_won: 'won', dispute_lost: 'lost' }[type]
      return {
        type: type === 'disputed' ? 'charge.dispute.created' : 'charge.dispute.closed',
        object: { id: disputeId, object: 'dispute', status, amount, currency, payment_intent: bare(link) },
      }
    }
  }
}

function sessionOf(told: Extract<PaymentNotification, { type: 'sold' }>): object {
  const named = (kind: string) => {
    const link = told.links.find((one) => one.startsWith(`${kind}:`))
    return link === undefined ? null : bare(link)
  }
  return {
    id: told.saleId,
    object: 'checkout.session',
    payment_status: 'paid',
    amount_total: told.amount,
    currency: told.currency,
    customer_details: told.customer,
    metadata: 'productId' in told.sold ? { product_id: told.sold.productId } : {},
    payment_intent: named('payment'),
    subscription: named('subscription'),
  }
}
