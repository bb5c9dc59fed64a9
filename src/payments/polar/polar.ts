import { webhookUrlOf } from '../addresses.ts'
import { json, type SigningProvider } from '../payment-provider.ts'
import { hmac, secondsOf } from '../signature.ts'
import { checkApiKey, listProducts } from './api.ts'
import { polarEndpoints } from './endpoints.ts'
import { invoicePage } from './invoice-page.ts'
import { translatePolar, verifyPolar } from './notification.ts'

const sandbox = 'sandbox-api.polar.sh'

export const polar: SigningProvider = {
  events: [
    'order.paid',
    'order.refunded',
    'subscription.updated',
    'subscription.past_due',
    'subscription.revoked',
  ],
  receiving: {
    operationId: 'receivePolarEvent',
    summary: 'Receive an event from Polar',
    vouches: 'Authenticated by the headers of Standard Webhooks',
  },
  isSigned({ raw, header }, secret, now) {
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
    return verifyPolar(raw, { id, timestamp, signature: header('webhook-signature') }, secret, now)
  },
  async translate({ raw, header }, { apiUrl, now }) {
    const isTest = new URL(apiUrl).hostname === sandbox
    return translatePolar(raw.toString('utf8'), header('webhook-id'), isTest, now)
  },
  testNotification({ tenantId, saleId, soldAs, email }, secret, now) {
    const body = JSON.stringify({
      type: 'order.paid',
      timestamp: now.toISOString(),
      data: {
        id: saleId,
        billing_reason: 'purchase',
        status: 'paid',
        total_amount: 0,
        currency: 'usd',
        product_id: soldAs,
        customer: { email, name: null },
      },
    })
    const at = String(secondsOf(now))
    const signature = hmac(secret, `${saleId}.${at}.${body}`).toString('base64')
    const headers = {
      ...json,
      'webhook-id': saleId,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    }
    return { path: webhookUrlOf('', tenantId, 'polar'), headers, body }
  },
  checkApiKey,
  invoicePage,
  listOffered: listProducts,
  endpoints: polarEndpoints,
}
