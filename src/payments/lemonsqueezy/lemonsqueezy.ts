import { webhookUrlOf } from '../addresses.ts'
import { json, type SigningProvider } from '../payment-provider.ts'
import { hmac } from '../signature.ts'
import { checkApiKey, listVariants, readSubscription } from './api.ts'
import { lemonSqueezyEndpoints } from './endpoints.ts'
import { invoicePage } from './invoice-page.ts'
import { translateLemonSqueezy, verifyLemonSqueezy } from './notification.ts'
import { readOrderItems } from './order-items.ts'

export const lemonSqueezy: SigningProvider = {
  events: [
    'order_created',
    'order_refunded',
    'subscription_created',
    'subscription_updated',
    'subscription_payment_success',
    'subscription_payment_failed',
    'subscription_payment_refunded',
    'subscription_expired',
  ],
  receiving: {
    operationId: 'receiveLemonSqueezyEvent',
    summary: 'Receive an event from Lemon Squeezy',
    vouches: 'Authenticated by the header `X-Signature`',
  },
  isSigned: ({ raw, header }, secret) => verifyLemonSqueezy(raw, header('x-signature'), secret),
  translate({ raw }, { apiUrl, apiKey, timeLimitMs }) {
    const reads =
      apiKey === undefined
        ? undefined
        : {
            subscription: (id: string) => readSubscription(apiUrl, apiKey, id, timeLimitMs),
            orderItems: (id: string) => readOrderItems(apiUrl, apiKey, id, timeLimitMs),
          }
    return translateLemonSqueezy(raw.toString('utf8'), reads)
  },
  testNotification({ tenantId, saleId, soldAs, email }, secret, now) {
    const at = now.toISOString()
    const attributes = {
      user_email: email,
      currency: 'USD',
      total: 0,
      status: 'paid',
      first_order_item: { variant_id: soldAs, quantity: 1 },
      created_at: at,
      updated_at: at,
      test_mode: true,
    }
    const body = JSON.stringify({
      meta: { event_name: 'order_created', test_mode: true },
      data: { type: 'orders', id: saleId, attributes },
    })
    const signature = hmac(secret, body).toString('hex')
    const headers = { ...json, 'x-event-name': 'order_created', 'x-signature': signature }
    return { path: webhookUrlOf('', tenantId, 'lemonsqueezy'), headers, body }
  },
  checkApiKey,
  invoicePage,
  listOffered: listVariants,
  endpoints: lemonSqueezyEndpoints,
}
