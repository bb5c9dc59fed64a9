import type { Answered, Asked } from './stand-in.ts'

/** The last part of an address below this one; undefined for another address, and for what there is not. */
function idBelow({ method, path }: Asked, before: string, after = ''): string | undefined {
  const isBelow = method === 'GET' && path.startsWith(before) && path.endsWith(after)
  const id = isBelow ? path.slice(before.length, path.length - after.length) : ''
  return id === '' || id.includes('/') || id.endsWith('_none') ? undefined : id
}

/**
 * @see https://docs.stripe.com/api/invoices/retrieve
 * @see https://docs.stripe.com/api/payment_intents/retrieve
 */
export function stripeInvoice(asked: Asked): Answered | undefined {
  const invoice = idBelow(asked, '/v1/invoices/')
  if (invoice) {
    const hosted = `https://invoice.stripe.com/i/${invoice}`
    return { status: 200, body: { id: invoice, object: 'invoice', hosted_invoice_url: hosted } }
  }
  const payment = idBelow(asked, '/v1/payment_intents/')
  if (payment === undefined) {
    const message = 'No such invoice'
    const error = { code: 'resource_missing', message, type: 'invalid_request_error' }
    return asked.path.startsWith('/v1/invoices/') ? { status: 404, body: { error } } : undefined
  }
  const charge = { id: 'ch_1', object: 'charge', receipt_url: `https://pay.stripe.com/receipts/${payment}` }
  const latest = asked.query.get('expand[0]') === 'latest_charge' ? charge : charge.id
  return { status: 200, body: { id: payment, object: 'payment_intent', latest_charge: latest } }
}

/** @see https://developer.paddle.com/api-reference/transactions/get-transaction-invoice */
export function paddleInvoice(asked: Asked): { url: string } | undefined {
  const id = idBelow(asked, '/transactions/', '/invoice')
  const shown = asked.query.get('disposition') ?? 'attachment'
  return id === undefined
    ? undefined
    : { url: `https://paddle-production-invoice-service-pdfs.example/${id}.pdf?${shown}` }
}

/** @see https://polar.sh/docs/api-reference/orders/get-invoice */
export function polarInvoice(asked: Asked): { url: string } | undefined {
  const id = idBelow(asked, '/v1/orders/', '/invoice')
  return id === undefined ? undefined : { url: `https://polar-invoices.example/${id}.pdf` }
}

/**
 * @see https://docs.lemonsqueezy.com/api/orders/the-order-object
 * @see https://docs.lemonsqueezy.com/api/subscription-invoices/the-subscription-invoice-object
 */
export function lemonSqueezyInvoice(asked: Asked): object | undefined {
  const order = idBelow(asked, '/v1/orders/')
  if (order !== undefined) {
    const urls = { receipt: `https://app.lemonsqueezy.com/my-orders/${order}?signature=1` }
    return { type: 'orders', id: order, attributes: { status: 'paid', urls } }
  }
  const invoice = idBelow(asked, '/v1/subscription-invoices/')
  const urls = { invoice_url: `https://app.lemonsqueezy.com/my-orders/invoices/${invoice}?signature=1` }
  return invoice === undefined
    ? undefined
    : { type: 'subscription-invoices', id: invoice, attributes: { urls } }
}
