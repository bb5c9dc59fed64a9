import type { Provider } from '../domain/integration/provider.ts'

/** What a provider's notification means, whoever sent it. Money in minor units, currency lower case. */
export type PaymentNotification = {
  provider: Provider
  /** The provider's own id of this notification, or a hash of its body: a replay has the same. */
  notificationId: string
  /** Livemode false, sandbox, test ping. */
  test: boolean
  /** When the provider says that it happened. */
  at: string
} & (
  | {
      type: 'sold'
      saleId: string
      sessionId: string
      links: string[]
      sold: Sold
      quantity: number
      customer: { email: string; name?: string }
      amount: number
      currency: string
      productName?: string
      paidUntil?: string
    }
  | { type: 'renewed'; link: string; paymentId: string; paidUntil: string; amount: number; currency: string }
  | { type: 'refunded'; link: string; refundId: string; amount: number; currency: string; full: boolean }
  | {
      type: 'disputed' | 'dispute_won' | 'dispute_lost'
      link: string
      disputeId: string
      amount?: number
      currency?: string
    }
  | { type: 'ended'; link: string; paidUntil: string | null }
)

/** What was bought: named by us in metadata, or by the provider's own id, to be looked up in the tenant's mapping. */
export type Sold = { productId: string; keyTypeId?: string } | { providerProduct: string }
