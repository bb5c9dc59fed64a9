import type { Provider } from '../domain/integrations/provider.ts'

/** What was bought: named by us in metadata, or by the provider's own id, to be looked up in the tenant's mapping. */
type Sold = { productId: string; keyTypeId?: string } | { providerProduct: string }

/** Who bought, as the provider says. */
export type Buyer = { email: string; name?: string }

/**
 * What a provider's notification means, whoever sent it. Money in minor units, currency lower case. A `link` names the
 * sale in another way than by its id, as `<kind>:<id>`. A notification that names a sale may come before it.
 */
export type PaymentNotification = {
  provider: Provider
  /** The provider's own id of this notification, or a hash of its body: a replay has the same. */
  notificationId: string
  /** Whether no real money was moved. */
  test: boolean
  /** When the provider says that it happened. */
  at: string
} & Happening

type Happening =
  | {
      type: 'sold'
      /** By which the provider tells this sale from all others. */
      saleId: string
      /** The payment session, by which the tenant's own systems may know the sale. */
      sessionId: string
      /** Every other name by which later notifications may speak of this sale. */
      links: string[]
      sold: Sold
      quantity: number
      /** null when the provider names no email address: there is nobody to seal a name under. */
      customer: Buyer | null
      amount: number
      currency: string
      productName?: string
      /** How far the first payment of a subscription reaches; absent for what is paid once. */
      paidUntil?: string
    }
  | {
      type: 'renewed'
      link: string
      paymentId: string
      /** Other names of this payment, by which its refund may be told. */
      links?: string[]
      /** null where the end of the period is told by `subscription` alone. */
      paidUntil: string | null
      amount: number
      currency: string
    }
  | {
      type: 'refunded'
      link: string
      /** A name of the payment that is refunded, where the link names the subscription instead. */
      payment?: string
      refundId: string
      amount: number
      /** Whether the amount is everything refunded of the payment so far. */
      cumulative?: boolean
      currency: string
      full: boolean
    }
  | {
      type: 'disputed' | 'dispute_won' | 'dispute_lost'
      link: string
      /** As of a refund. */
      payment?: string
      disputeId: string
      amount?: number
      currency?: string
    }
  | { type: 'ended'; link: string; paidUntil: string | null }
  /** Under which names one payment is known. */
  | {
      type: 'payment named'
      link: string
      names: string[]
      /** Whether it is the payment by which the sale was made. */
      isFirst: boolean
      /** How far it reaches, if it is the first one. */
      paidUntil?: string
    }
  /** What a subscription is now; what is absent was not told. */
  | {
      type: 'subscription'
      link: string
      /** Other names of it. */
      links?: string[]
      sold?: { providerProduct: string }
      quantity?: number
      paused?: boolean
      /** The end of the period that is paid, where payments do not tell it. */
      paidUntil?: string
    }
