import { z } from 'zod'
import type { ProviderEndpoints } from '../endpoints.ts'
import { ask, ProviderRefused, ProviderUnavailable } from '../errors.ts'
import type { NamedPayment } from '../invoice-page.ts'
import type { Offered } from '../offered.ts'
import { createCall } from './call.ts'
import { type CheckoutInput, sessionFor } from './checkout.ts'
import { stripeEndpoints } from './endpoints.ts'
import { readInvoicePage } from './invoice-page.ts'
import { type LineItem, listLineItems } from './line-items.ts'
import { readBuyer, reportUse, type UseReport } from './meter-events.ts'
import { type CardPrice, listPrices, Price, priceOf } from './price-list.ts'

/** How the card provider is called: for an account of the platform, or with a key of the vendor's own account. */
export type CardAccess = { accountId: string } | { key: string }

export type CardAccount = {
  /** Whether its owner has submitted all details of the onboarding. */
  detailsSubmitted: boolean
  chargesEnabled: boolean
  payoutsEnabled: boolean
}

/**
 * The card provider, through its SDK. Each call throws ProviderRefused, ProviderUnavailable, or, if it needs
 * the platform's own key, Refusal `platform_key_missing` or `platform_key_refused`.
 */
export type CardProvider = {
  /** Opens an account for a tenant, only once per idempotency key. */
  openAccount(tenantId: string, idempotencyKey: string): Promise<string>
  /** A single-use URL where the account's owner submits the missing details. */
  onboardingLink(accountId: string, returnUrl: string, refreshUrl: string): Promise<string>
  readAccount(access: CardAccess): Promise<CardAccount>
  /** Tests a key of a vendor's own account with a request that changes nothing: it must be able to read prices. */
  checkKey(key: string): Promise<void>
  /** The webhook endpoints of a vendor's own account. */
  endpoints(key: string): ProviderEndpoints
  /** The existing prices by id. All of them, or an error. */
  readPrices(access: CardAccess, priceIds: readonly string[]): Promise<Map<string, CardPrice>>
  /**
   * The newest prices that can be sold, with the names of their products. The key must be able to read both.
   */
  listPrices(access: CardAccess): Promise<Offered>
  /**
   * The invoice that a payment has paid, which neither it nor its charge holds; undefined when it has paid
   * none.
   */
  readInvoiceOf(access: CardAccess, paymentId: string): Promise<string | undefined>
  /** Everything that was bought in a session, which its notification does not hold. */
  readLineItems(access: CardAccess, sessionId: string): Promise<LineItem[]>
  /**
   * The page of an invoice, or of the receipt of a payment without one.
   * @returns undefined when the account has neither
   */
  readInvoicePage(access: CardAccess, payment: NamedPayment): Promise<string | undefined>
  /** Opens a checkout page. @returns its URL */
  openCheckout(access: CardAccess, params: CheckoutInput): Promise<string>
  /** Who pays for a subscription, by the provider's id. */
  readBuyer(access: CardAccess, subscriptionId: string): Promise<string>
  /** Reports a use to a meter of the account. */
  reportUse(access: CardAccess, report: UseReport): Promise<void>
}

const Account = z.object({
  id: z.string().min(1).max(255),
  details_submitted: z.boolean(),
  charges_enabled: z.boolean(),
  payouts_enabled: z.boolean(),
})
const Link = z.object({ url: z.url() })
const PriceList = z.object({ object: z.literal('list'), data: z.array(z.unknown()) })

const InvoicePayments = z.object({ data: z.array(z.object({ invoice: z.string().min(1).max(255) })) })

/**
 * How many prices are read concurrently, and how many times the limit of one request all of them may take.
 */
const atOnce = 8
const allPricesWithin = 3

export function createStripe(
  apiUrl: string,
  platformKey: string | undefined,
  timeLimitMs: number,
  feeBasisPoints: number,
): CardProvider {
  const call = createCall(apiUrl, platformKey, timeLimitMs)

  /** The account's own key, or the platform's key for a connected account. */
  const inNameOf = (access: CardAccess): [string | undefined, { stripeAccount?: string }] =>
    'key' in access ? [access.key, {}] : [platformKey, { stripeAccount: access.accountId }]

  async function readPrice(access: CardAccess, priceId: string): Promise<CardPrice | undefined> {
    const [key, options] = inNameOf(access)
    try {
      const price = await call(key, Price, (stripe) => stripe.prices.retrieve(priceId, {}, options))
      // An id such as `.` leads to another resource than a price.
      return price.id === priceId ? priceOf(price) : undefined
    } catch (error) {
      if (error instanceof ProviderRefused && error.reason === 'missing') return undefined
      throw error
    }
  }

  return {
    async openAccount(tenantId, idempotencyKey) {
      const params = { type: 'standard', metadata: { keyledger_tenant: tenantId } } as const
      const { id } = await call(platformKey, Account, (stripe) =>
        stripe.accounts.create(params, { idempotencyKey }),
      )
      return id
    },
    async onboardingLink(account, returnUrl, refreshUrl) {
      const params = { account, type: 'account_onboarding', return_url: returnUrl, refresh_url: refreshUrl }
      const { url } = await call(platformKey, Link, (stripe) => stripe.accountLinks.create(params))
      return url
    },
    async readAccount(access) {
      const account = await ('key' in access
        ? call(access.key, Account, (stripe) => stripe.accounts.retrieveCurrent())
        : call(platformKey, Account, (stripe) => stripe.accounts.retrieve(access.accountId)))
      return {
        detailsSubmitted: account.details_submitted,
        chargesEnabled: account.charges_enabled,
        payoutsEnabled: account.payouts_enabled,
      }
    },
    async checkKey(key) {
      await call(key, PriceList, (stripe) => stripe.prices.list({ limit: 1 }))
    },
    endpoints: (key) => stripeEndpoints(call, key),
    async readPrices(access, priceIds) {
      const found = new Map<string, CardPrice>()
      const waiting = [...new Set(priceIds)]
      const work = async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          const price = await readPrice(access, id)
          if (price) found.set(id, price)
        }
      }
      const all = () => Promise.all(Array.from({ length: atOnce }, work))
      try {
        await ask('stripe', allPricesWithin * timeLimitMs, all, (error) =>
          error instanceof Error ? error : new ProviderUnavailable('stripe', 'no usable response'),
        )
      } finally {
        // After a failure the remaining ones are not requested.
        waiting.length = 0
      }
      return found
    },
    listPrices: (access) => listPrices(call, timeLimitMs, inNameOf(access)),
    async readInvoiceOf(access, paymentId) {
      const [key, options] = inNameOf(access)
      const payment = { type: 'payment_intent', payment_intent: paymentId } as const
      const { data } = await call(key, InvoicePayments, (stripe) =>
        stripe.invoicePayments.list({ payment, limit: 1 }, options),
      )
      return data[0]?.invoice
    },
    readBuyer: (access, subscriptionId) => readBuyer(call, inNameOf(access), subscriptionId),
    reportUse: (access, report) => reportUse(call, inNameOf(access), report),
    readInvoicePage: (access, payment) => readInvoicePage(call, inNameOf(access), payment),
    readLineItems: (access, sessionId) => listLineItems(call, inNameOf(access), sessionId),
    async openCheckout(access, params) {
      const [key, options] = inNameOf(access)
      // With a key of the account itself there is no platform and no fee.
      const session = sessionFor(params, 'key' in access ? 0 : feeBasisPoints)
      const { url } = await call(key, Link, (stripe) => stripe.checkout.sessions.create(session, options))
      return url
    },
  }
}
