import { stripeWebhookUrlOf } from '../addresses.ts'
import { json, type PaymentProvider } from '../payment-provider.ts'
import { hmac, secondsOf } from '../signature.ts'

export const stripe: PaymentProvider = {
  events: [
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'invoice.paid',
    'invoice.payment_failed',
    'invoice_payment.paid',
    'charge.refunded',
    'charge.dispute.created',
    'charge.dispute.closed',
    'customer.subscription.updated',
    'customer.subscription.paused',
    'customer.subscription.resumed',
    'customer.subscription.deleted',
  ],
  testNotification({ saleId, tenantId, productId, keyTypeId, email, accountId, ownAccount }, secret, now) {
    const created = secondsOf(now)
    const session = {
      id: saleId,
      object: 'checkout.session',
      payment_status: 'paid',
      amount_total: 0,
      currency: 'usd',
      customer_details: { email, name: null },
      metadata: { tenant_id: tenantId, product_id: productId, key_type_id: keyTypeId },
    }
    const body = JSON.stringify({
      id: `evt_${saleId}`,
      object: 'event',
      type: 'checkout.session.completed',
      ...(accountId !== null && !ownAccount && { account: accountId }),
      livemode: false,
      created,
      data: { object: session },
    })
    const signature = `t=${created},v1=${hmac(secret, `${created}.${body}`).toString('hex')}`
    const path = stripeWebhookUrlOf('', ownAccount ? tenantId : undefined)
    return { path, headers: { ...json, 'stripe-signature': signature }, body }
  },
}
