import type { Provider } from '../domain/integrations/provider.ts'

/** The events that each provider must be told to send, by its own names. */
export const notificationEvents: Readonly<Record<Provider, readonly string[]>> = {
  stripe: [
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'invoice.paid',
    'invoice_payment.paid',
    'charge.refunded',
    'charge.dispute.created',
    'charge.dispute.closed',
    'customer.subscription.updated',
    'customer.subscription.paused',
    'customer.subscription.resumed',
    'customer.subscription.deleted',
  ],
  // Gumroad's own names of resources; sales come as pings.
  gumroad: ['refund', 'dispute', 'dispute_won', 'subscription_ended'],
  lemonsqueezy: [
    'order_created',
    'order_refunded',
    'subscription_created',
    'subscription_updated',
    'subscription_payment_success',
    'subscription_payment_refunded',
    'subscription_expired',
  ],
  paddle: [
    'transaction.completed',
    'adjustment.created',
    'adjustment.updated',
    'subscription.updated',
    'subscription.paused',
    'subscription.resumed',
    'subscription.canceled',
  ],
  polar: ['order.paid', 'order.refunded', 'subscription.updated', 'subscription.revoked'],
}
