import type { Provider } from '../domain/integrations/provider.ts'
import type { PortalLanguage } from '../domain/portal/languages.ts'

/**
 * What was bought: by keyledger's ids in metadata, or by the provider's own id, which the tenant's mapping
 * resolves.
 */
type Sold = { productId: string; keyTypeId?: string } | { providerProduct: string }

/** A line of a purchase, and its amount. */
type Line = { lineId: string; amount: number }

/** The buyer as the provider sends it. */
export type Buyer = { email: string; name?: string; language?: PortalLanguage }

/**
 * A provider's notification in a form common to all providers. Amounts are in minor units, currencies in
 * lower case. A `link` names the sale by another id than its own, as `<kind>:<id>`. A notification that names
 * a sale may arrive before it.
 */
export type PaymentNotification = {
  provider: Provider
  /** The provider's own id of this notification, or a hash of its body; a repetition has the same. */
  notificationId: string
  /** Whether no real money was moved. */
  test: boolean
  /** The provider's time of what happened. */
  at: string
} & Happening

type Happening =
  | {
      type: 'sold'
      /** The provider's unique id of the sale. */
      saleId: string
      /** The payment session, by which the tenant's own systems may know the sale. */
      sessionId: string
      /** The number on the customer's receipt, where it is another than the sale's id. */
      orderNumber?: string
      /** All other ids by which later notifications may name this sale. */
      links: string[]
      sold: Sold
      quantity: number
      /** The item's price, by which its subscription names it, where `sold` is something else. */
      priceId?: string
      /** The item's line at the provider, where lines are refunded one by one. */
      line?: Line
      /** What was bought besides. */
      more?: { sold: Sold; quantity: number; line?: Line }[]
      /** The license that the checkout named as the one that bought credits are for. */
      licenseId?: string
      /** null when the provider sends no email address: then no subject exists to seal a name for. */
      customer: Buyer | null
      /** Who paid, where the customer was given it. */
      giver?: Buyer
      amount: number
      currency: string
      productName?: string
      /** The end of the period that a subscription's first payment covers; absent for a single payment. */
      paidUntil?: string
    }
  | {
      type: 'renewed'
      link: string
      paymentId: string
      /** Other names of this payment, by which a refund may name it. */
      links?: string[]
      /** null if only `subscription` holds the end of the period. */
      paidUntil: string | null
      amount: number
      currency: string
    }
  /** A payment for a renewal failed. Each attempt may be sent. */
  | {
      type: 'renewal_failed'
      link: string
      /** The id that the payment has when it succeeds. */
      paymentId: string
      /** The end of the period that it was to pay; null where it is not sent. */
      periodEnd: string | null
      /** How many attempts have failed; null where it is not sent. */
      attempt: number | null
      /** null where it is not sent, and after the last attempt. */
      nextAttemptAt: string | null
    }
  | {
      type: 'refunded'
      link: string
      /** A name of the refunded payment, if the link names the subscription. */
      payment?: string
      refundId: string
      amount: number
      /** Whether the amount is the total refunded of the payment so far. */
      cumulative?: boolean
      currency: string
      full: boolean
      /** What of it was refunded of which line. */
      lines?: Line[]
    }
  | {
      type: 'disputed' | 'dispute_won' | 'dispute_lost'
      link: string
      /** As for a refund. */
      payment?: string
      disputeId: string
      /** The provider's id of this chargeback, or of its return, where one payment can have several. */
      caseId?: string
      amount?: number
      currency?: string
    }
  | {
      type: 'ended'
      link: string
      paidUntil: string | null
      /** Whether it ended because it had a fixed number of payments and all of them were made. */
      paidInFull?: boolean
    }
  /** The names of one payment. */
  | {
      type: 'payment named'
      link: string
      names: string[]
      /** Whether it is the payment by which the sale was made. */
      isFirst: boolean
      /** The end of the period that it covers, if it is the first one. */
      paidUntil?: string
    }
  /** The present state of a subscription; fields that the notification does not hold are absent. */
  | {
      type: 'subscription'
      link: string
      /** Other names of it. */
      links?: string[]
      sold?: { providerProduct: string }
      quantity?: number
      /** All of its items, where the notification holds them. */
      items?: { sold: { providerProduct: string }; quantity: number }[]
      paused?: boolean
      /** The end of the paid period, if payments do not hold it. */
      paidUntil?: string
    }
