import { pingUrlOf } from '../addresses.ts'
import type { PaymentProvider } from '../payment-provider.ts'

export const gumroad: PaymentProvider = {
  // Gumroad's own names of resources; sales come as pings.
  events: ['refund', 'dispute', 'dispute_won', 'subscription_ended'],
  /** Without gumroad's own mark of a test, since pings with it are ignored. */
  testNotification({ tenantId, saleId, soldAs, email }, token) {
    const form = { resource_name: 'sale', sale_id: saleId, product_permalink: soldAs, email, price: '0' }
    return {
      path: pingUrlOf('', tenantId, token),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, currency: 'usd' }).toString(),
    }
  },
}
