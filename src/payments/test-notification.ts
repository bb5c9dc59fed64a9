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

export const json = { 'content-type': 'application/json' }

/** A time as the signatures hold it. */
export const secondsOf = (now: Date): number => Math.floor(now.getTime() / 1000)
