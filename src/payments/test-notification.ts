import type { Provider } from '../domain/integrations/provider.ts'
import { hmac } from './signature.ts'

/** A sale without a payment, for a provider's notification. */
export type TestSale = {
  tenantId: string
  /** Used as the provider's id of the sale. */
  saleId: string
  productId: string
  keyTypeId: string
  /** The provider's id of what is sold; the card provider's metadata holds keyledger's ids instead. */
  soldAs: string
  email: string
  /** The card provider's account; null in test mode, where the product has only test keys. */
  accountId: string | null
  /** Whether the card provider is connected with a key of the tenant's own account, which has its own endpoint. */
  ownAccount: boolean
}

/** A request as the provider would send it to the service. */
export type SignedNotification = { path: string; headers: Record<string, string>; body: string }

/**
 * Builds the notification of a sale in the provider's own shape, with the provider's signature.
 * @param secret the secret of the provider's signatures; for gumroad, the token in its ping's URL
 */
export function testNotification(
  provider: Provider,
  sale: TestSale,
  secret: string,
  now: Date,
): SignedNotification {
  switch (provider) {
    case 'stripe':
      return fromStripe(sale, secret, now)
    case 'gumroad':
      return fromGumroad(sale, secret)
    case 'lemonsqueezy':
      return fromLemonSqueezy(sale, secret, now)
    case 'paddle':
      return fromPaddle(sale, secret, now)
    case 'polar':
      return fromPolar(sale, secret, now)
  }
}

const json = { 'content-type': 'application/json' }
const secondsOf = (now: Date): number => Math.floor(now.getTime() / 1000)

function fromStripe(sale: TestSale, secret: string, now: Date): SignedNotification {
  const { saleId, tenantId, productId, keyTypeId, email, accountId, ownAccount } = sale
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
  return {
    path: `/api/stripe/webhook/${ownAccount ? tenantId : 'connect'}`,
    headers: { ...json, 'stripe-signature': signature },
    body,
  }
}

/** Without gumroad's own mark of a test, since pings with it are ignored. */
function fromGumroad({ tenantId, saleId, soldAs, email }: TestSale, token: string): SignedNotification {
  const form = { resource_name: 'sale', sale_id: saleId, product_permalink: soldAs, email, price: '0' }
  return {
    path: `/webhooks/gumroad/${tenantId}?token=${encodeURIComponent(token)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, currency: 'usd' }).toString(),
  }
}

function fromLemonSqueezy(sale: TestSale, secret: string, now: Date): SignedNotification {
  const { tenantId, saleId, soldAs, email } = sale
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
  return {
    path: `/webhooks/lemonsqueezy/${tenantId}`,
    headers: { ...json, 'x-event-name': 'order_created', 'x-signature': signature },
    body,
  }
}

function fromPaddle(sale: TestSale, secret: string, now: Date): SignedNotification {
  const { tenantId, saleId, soldAs, email } = sale
  const body = JSON.stringify({
    event_id: `evt_${saleId}`,
    event_type: 'transaction.completed',
    occurred_at: now.toISOString(),
    notification_id: `ntf_${saleId}`,
    data: {
      id: saleId,
      origin: 'web',
      currency_code: 'USD',
      custom_data: { customer_email: email },
      items: [{ price: { id: soldAs }, quantity: 1 }],
      details: { totals: { grand_total: '0' } },
    },
  })
  const at = secondsOf(now)
  const signature = `ts=${at};h1=${hmac(secret, `${at}:${body}`).toString('hex')}`
  return { path: `/webhooks/paddle/${tenantId}`, headers: { ...json, 'paddle-signature': signature }, body }
}

function fromPolar(sale: TestSale, secret: string, now: Date): SignedNotification {
  const { tenantId, saleId, soldAs, email } = sale
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
  return {
    path: `/webhooks/polar/${tenantId}`,
    headers: {
      ...json,
      'webhook-id': saleId,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  }
}
