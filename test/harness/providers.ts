import { randomBytes } from 'node:crypto'
import type { ProviderSettings } from '../../src/payments/providers.ts'
import {
  lemonSqueezyEndpoints,
  paddleEndpoints,
  polarEndpoints,
  type StandInEndpoints,
  stripeEndpoints,
} from './endpoints.ts'
import { lemonSqueezyInvoice, paddleInvoice, polarInvoice, stripeInvoice } from './invoices.ts'
import { type BoughtVariants, orderItemsOf } from './lemonsqueezy-orders.ts'
import { lemonSqueezyVariants, paddlePrice, polarProducts } from './offered.ts'
import { paddleCustomer, paddleEventTypes } from './paddle.ts'
import { type Answered, type Asked, type StandIn, startStandIn } from './stand-in.ts'
import { answerOfMeters, type StripeMeters, stripeMeters } from './stripe-meters.ts'
import { lineItemsOf, type StripeLineItem, type StripePrice, stripePrice } from './stripe-objects.ts'

/** The platform's key at the card provider, in tests. */
export const platformKey = 'sk_test_platform_canary_5d1e'
/** Stripe's webhook signing secret, in tests. */
export const platformWebhookSecret = 'whsec_platform_canary_77c0'
export const goodKey = 'key_canary_good_93ab'
/** A valid key without the needed permissions. */
export const poorKey = 'key_canary_poor_77aa'
/** A valid key that can be connected, but may not list what is sold, nor create endpoints. */
export const barelyKey = 'key_canary_barely_40c2'

type WithEndpoints = StandIn & { endpoints: StandInEndpoints }

type StripeStandIn = WithEndpoints & {
  accounts: Map<string, { detailsSubmitted: boolean; chargesEnabled: boolean }>
  /** By id: the account or the vendor's own key, and the price. */
  prices: Map<string, StripePrice>
  /** Keys other than the platform's: of vendors' own accounts. */
  keys: Set<string>
  /** Those of them without any permission. */
  poorKeys: Set<string>
  /** Those of them that may not read products, nor create endpoints. */
  pricesOnlyKeys: Set<string>
  /** The invoice of each payment. */
  invoices: Map<string, string>
  /** What was bought in each session. */
  lineItems: Map<string, StripeLineItem[]>
  /** The most line items that it returns at once. */
  lineItemsInPage: number
  meters: StripeMeters
}

const stripeError = (status: number, error: Record<string, string>): Answered => ({ status, body: { error } })

/**
 * Stripe's accounts, account links and prices, in the shapes of its reference.
 * @see https://docs.stripe.com/api/accounts/object
 * @see https://docs.stripe.com/api/account_links/object
 * @see https://docs.stripe.com/api/prices/object
 */
async function startStripe(): Promise<StripeStandIn> {
  const accounts: StripeStandIn['accounts'] = new Map()
  const prices: StripeStandIn['prices'] = new Map()
  const keys: StripeStandIn['keys'] = new Set([platformKey])
  const poorKeys: StripeStandIn['poorKeys'] = new Set()
  const pricesOnlyKeys: StripeStandIn['pricesOnlyKeys'] = new Set()
  const invoices: StripeStandIn['invoices'] = new Map()
  const lineItems: StripeStandIn['lineItems'] = new Map()
  const meters = stripeMeters()
  const byIdempotencyKey = new Map<string, string>()
  const endpoints: StandInEndpoints = new Map()

  /** @see https://docs.stripe.com/api/invoice-payment/list */
  function invoicePayments({ headers, query }: Asked): Answered {
    const connected = headers['stripe-account']
    if (typeof connected === 'string' && !accounts.has(connected)) return noAccess(connected)
    const payment = query.get('payment[payment_intent]') ?? ''
    const invoice = invoices.get(payment)
    const found = { id: 'inpay_1', object: 'invoice_payment', invoice, status: 'paid' }
    const data = invoice === undefined ? [] : [found]
    return { status: 200, body: { object: 'list', data, has_more: false, url: '/v1/invoice_payments' } }
  }

  const account = (id: string): Answered => {
    const { detailsSubmitted, chargesEnabled } = accounts.get(id) ?? {
      detailsSubmitted: false,
      chargesEnabled: false,
    }
    return {
      status: 200,
      body: {
        id,
        object: 'account',
        type: 'standard',
        charges_enabled: chargesEnabled,
        payouts_enabled: chargesEnabled,
        details_submitted: detailsSubmitted,
        country: 'US',
        default_currency: 'usd',
        metadata: {},
      },
    }
  }

  /** Stripe's response for an account that is closed, or has revoked the platform's access. */
  const noAccess = (id: string): Answered =>
    stripeError(403, {
      code: 'account_invalid',
      message: `The provided key 'sk_test_***' does not have access to account '${id}' (or that account does not exist). Application access may have been revoked.`,
      type: 'invalid_request_error',
    })

  function openAccount({ headers }: Asked): Answered {
    const key = String(headers['idempotency-key'])
    const id = byIdempotencyKey.get(key) ?? `acct_${randomBytes(8).toString('hex')}`
    if (!accounts.has(id)) accounts.set(id, { detailsSubmitted: false, chargesEnabled: false })
    byIdempotencyKey.set(key, id)
    return account(id)
  }

  function linkTo({ body }: Asked): Answered {
    const id = new URLSearchParams(body).get('account') ?? ''
    if (!accounts.has(id)) return noAccess(id)
    const created = 1_772_366_400
    const url = `https://connect.stripe.com/setup/s/${id}/${randomBytes(6).toString('hex')}`
    return { status: 200, body: { object: 'account_link', created, expires_at: created + 300, url } }
  }

  function price(id: string, { key, headers }: Asked): Answered {
    const connected = headers['stripe-account']
    if (typeof connected === 'string' && !accounts.has(connected)) return noAccess(connected)
    const found = prices.get(id)
    if (found === undefined || found.owner !== (connected ?? key)) {
      return stripeError(404, {
        code: 'resource_missing',
        doc_url: 'https://stripe.com/docs/error-codes/resource-missing',
        message: `No such price: '${id}'`,
        param: 'price',
        type: 'invalid_request_error',
      })
    }
    return { status: 200, body: stripePrice(id, found) }
  }

  /** @see https://docs.stripe.com/api/prices/list */
  function priceList(asked: Asked): Answered {
    const { key, headers, query } = asked
    const isExpanded = query.get('expand[0]') === 'data.product'
    if (isExpanded && pricesOnlyKeys.has(key ?? '')) return noPermission(key ?? '')
    const own = [...prices].filter(
      ([, { owner, active = true }]) =>
        owner === (headers['stripe-account'] ?? key) && (active || query.get('active') !== 'true'),
    )
    const data = own.slice(0, Number(query.get('limit') ?? 10)).map(([id, { nickname = null, product }]) => {
      const { body } = price(id, asked)
      const expanded = { id: 'prod_NWjs8kKbJWmuuc', object: 'product', ...product }
      return { ...(body as object), nickname, ...(isExpanded && { product: expanded }) }
    })
    return {
      status: 200,
      body: { object: 'list', data, has_more: data.length < own.length, url: '/v1/prices' },
    }
  }

  /** @see https://docs.stripe.com/api/checkout/sessions/create */
  function checkoutSession(asked: Asked): Answered {
    const form = new URLSearchParams(asked.body)
    const found = price(form.get('line_items[0][price]') ?? '', asked)
    if (found.status !== 200) return found
    const id = `cs_test_${randomBytes(8).toString('hex')}`
    const url = `https://checkout.stripe.com/c/pay/${id}`
    return { status: 200, body: { id, object: 'checkout.session', mode: form.get('mode'), url } }
  }

  /** @see https://docs.stripe.com/api/checkout/sessions/line_items */
  function sessionItems(session: string, { headers, query }: Asked): Answered {
    const connected = headers['stripe-account']
    if (typeof connected === 'string' && !accounts.has(connected)) return noAccess(connected)
    const bought = lineItems.get(session)
    if (bought === undefined) {
      return stripeError(404, {
        code: 'resource_missing',
        message: `No such checkout.session: '${session}'`,
        param: 'session',
        type: 'invalid_request_error',
      })
    }
    const { lineItemsInPage: inPage } = standIn
    return { status: 200, body: lineItemsOf(session, bought, query, inPage) }
  }

  const noPermission = (key: string): Answered =>
    stripeError(403, {
      message: `The provided key '${key.slice(0, 8)}***' does not have the required permissions for this endpoint.`,
      type: 'invalid_request_error',
    })

  const bare = await startStandIn((asked) => {
    const { method, path, key } = asked
    if (key === undefined || !keys.has(key)) {
      return stripeError(401, {
        message: `Invalid API Key provided: ${key?.slice(0, 8)}***`,
        type: 'invalid_request_error',
      })
    }
    if (poorKeys.has(key)) {
      return noPermission(key)
    }
    const [, , what, id, session] = path.split('/')
    if (method === 'GET' && path === '/v1/prices') return priceList(asked)
    if (what === 'webhook_endpoints') {
      return pricesOnlyKeys.has(key) ? noPermission(key) : stripeEndpoints(endpoints, asked)
    }
    if (method === 'GET' && path === '/v1/account') return account('acct_of_the_key')
    if (method === 'POST' && path === '/v1/accounts') return openAccount(asked)
    if (method === 'POST' && path === '/v1/account_links') return linkTo(asked)
    if (method === 'GET' && what === 'accounts' && id) return accounts.has(id) ? account(id) : noAccess(id)
    if (method === 'POST' && path === '/v1/checkout/sessions') return checkoutSession(asked)
    if (method === 'GET' && path === '/v1/invoice_payments') return invoicePayments(asked)
    if (method === 'GET' && session && path === `/v1/checkout/sessions/${session}/line_items`) {
      return sessionItems(session, asked)
    }
    if (method === 'GET' && what === 'prices' && id) return price(decodeURIComponent(id), asked)
    const invoice = stripeInvoice(asked)
    if (invoice) return invoice
    const ofMeters = answerOfMeters(meters, asked)
    if (ofMeters) return ofMeters
    return stripeError(404, {
      message: `Unrecognized request URL (${method}: ${path}).`,
      type: 'invalid_request_error',
    })
  })
  const own = { endpoints, accounts, prices, keys, poorKeys, pricesOnlyKeys, invoices }
  const standIn: StripeStandIn = Object.assign(bare, own, { lineItems, lineItemsInPage: 100, meters })
  return standIn
}

/** @see https://developer.paddle.com/api-reference/event-types/list-event-types */
async function startPaddle(): Promise<WithEndpoints> {
  const endpoints: StandInEndpoints = new Map()
  const standIn = await startStandIn((asked) => {
    const { method, path, key, query } = asked
    const meta = { request_id: '00000000-0000-0000-0000-000000000000' }
    const error = (code: string, detail: string) => ({
      status: 403,
      body: {
        error: {
          type: 'request_error',
          code,
          detail,
          documentation_url: `https://developer.paddle.com/errors/shared/${code}`,
        },
        meta,
      },
    })
    if (key === poorKey) return error('forbidden', "You aren't permitted to perform this request.")
    if (key !== goodKey && key !== barelyKey) return error('invalid_token', 'Invalid or revoked API key.')
    if (method === 'GET' && path.startsWith('/customers/ctm_')) {
      return { status: 200, body: { data: paddleCustomer(path.slice('/customers/'.length)), meta } }
    }
    const invoice = paddleInvoice(asked)
    if (invoice) return { status: 200, body: { data: invoice, meta } }
    if (method === 'GET' && path === '/prices' && query.get('include') === 'product') {
      // A key that may read nothing but the types of events, which needs no permission.
      if (key === barelyKey) return error('forbidden', "You aren't permitted to perform this request.")
      const pagination = {
        per_page: 200,
        next: 'https://api.paddle.com/prices',
        has_more: true,
        estimated_total: 201,
      }
      return { status: 200, body: { data: [paddlePrice], meta: { ...meta, pagination } } }
    }
    if (path.startsWith('/notification-settings')) {
      if (key === barelyKey) return error('forbidden', "You aren't permitted to perform this request.")
      return paddleEndpoints(endpoints, asked)
    }
    if (method !== 'GET' || path !== '/event-types') return error('not_found', 'Entity not found')
    return { status: 200, body: { data: paddleEventTypes, meta } }
  })
  return Object.assign(standIn, { endpoints })
}

/** @see https://polar.sh/docs/api-reference/organizations/list */
async function startPolar(): Promise<WithEndpoints> {
  const endpoints: StandInEndpoints = new Map()
  const standIn = await startStandIn((asked) => {
    const { method, path, key } = asked
    if (key === poorKey) {
      return { status: 403, body: { error: 'insufficient_scope', error_description: 'organizations:read' } }
    }
    if (key !== goodKey && key !== barelyKey) {
      return {
        status: 401,
        body: {
          error: 'invalid_token',
          error_description: 'The access token provided is expired or revoked',
        },
      }
    }
    const invoice = polarInvoice(asked)
    if (invoice) return { status: 200, body: invoice }
    if (method === 'GET' && path === '/v1/products/') {
      if (key === barelyKey) {
        return { status: 403, body: { error: 'insufficient_scope', error_description: 'products:read' } }
      }
      return { status: 200, body: { items: polarProducts, pagination: { total_count: 2, max_page: 1 } } }
    }
    if (path.startsWith('/v1/webhooks/endpoints')) {
      if (key === barelyKey) {
        return { status: 403, body: { error: 'insufficient_scope', error_description: 'webhooks:read' } }
      }
      return polarEndpoints(endpoints, asked)
    }
    if (method !== 'GET' || path !== '/v1/organizations/')
      return { status: 404, body: { detail: 'Not Found' } }
    return { status: 200, body: { items: [], pagination: { total_count: 0, max_page: 0 } } }
  })
  return Object.assign(standIn, { endpoints })
}

type LemonSqueezyStandIn = WithEndpoints & {
  /** Names by id. */
  stores: Map<string, string>
  orders: Map<string, BoughtVariants>
}

/** @see https://docs.lemonsqueezy.com/api/users/retrieve-user */
async function startLemonSqueezy(): Promise<LemonSqueezyStandIn> {
  const endpoints: StandInEndpoints = new Map()
  const stores = new Map([['1', 'Acme']])
  const orders: LemonSqueezyStandIn['orders'] = new Map()
  const standIn = await startStandIn((asked) => {
    const { method, path, key, query } = asked
    const jsonapi = { version: '1.0' }
    const error = (status: number, detail: string) => ({
      status,
      body: { jsonapi, errors: [{ status: String(status), title: detail, detail }] },
    })
    if (key === poorKey) return error(403, 'Forbidden')
    if (key !== goodKey) return error(401, 'Unauthenticated.')
    if (method === 'GET' && path === '/v1/subscriptions/9') {
      const attributes = { order_id: 1, status: 'active', renews_at: '2026-05-01T12:00:00.000000Z' }
      return { status: 200, body: { jsonapi, data: { type: 'subscriptions', id: '9', attributes } } }
    }
    const invoice = lemonSqueezyInvoice(asked)
    if (invoice) return { status: 200, body: { jsonapi, data: invoice } }
    if (path === '/v1/order-items') return { status: 200, body: { jsonapi, ...orderItemsOf(orders, query) } }
    if (method === 'GET' && path === '/v1/variants') {
      return { status: 200, body: { jsonapi, ...lemonSqueezyVariants } }
    }
    if (path === '/v1/stores' || path.startsWith('/v1/webhooks'))
      return lemonSqueezyEndpoints(endpoints, stores, asked)
    if (method !== 'GET' || path !== '/v1/users/me') return error(404, 'Not Found')
    const attributes = {
      name: 'John Doe',
      email: 'john@example.com',
      color: '#898FA9',
      has_custom_avatar: false,
      createdAt: '2024-05-24T14:08:31.000000Z',
      updatedAt: '2024-08-26T13:24:54.000000Z',
    }
    return {
      status: 200,
      body: { meta: { test_mode: true }, jsonapi, data: { type: 'users', id: '1', attributes } },
    }
  })
  return Object.assign(standIn, { endpoints, stores, orders })
}

export type ProviderStandIns = {
  stripe: StripeStandIn
  paddle: WithEndpoints
  polar: WithEndpoints
  lemonsqueezy: LemonSqueezyStandIn
  /** The settings that make the ledger call these. */
  settings: ProviderSettings
  close(): Promise<void>
}

export async function startProviders(): Promise<ProviderStandIns> {
  const [stripe, paddle, polar, lemonsqueezy] = await Promise.all([
    startStripe(),
    startPaddle(),
    startPolar(),
    startLemonSqueezy(),
  ])
  return {
    stripe,
    paddle,
    polar,
    lemonsqueezy,
    settings: {
      stripeSecretKey: platformKey,
      stripeWebhookSecret: platformWebhookSecret,
      platformFeeBasisPoints: 50,
      apiUrls: { stripe: stripe.url, lemonsqueezy: lemonsqueezy.url, paddle: paddle.url, polar: polar.url },
      timeLimitMs: 1500,
    },
    async close() {
      await Promise.all([stripe, paddle, polar, lemonsqueezy].map((standIn) => standIn.close()))
    },
  }
}
