import type { ProviderEndpoints } from './endpoints.ts'
import type { NamedPayment } from './invoice-page.ts'
import type { Offered } from './offered.ts'
import type { Translated } from './translated.ts'

/** A notification as it was received. */
export type Incoming = {
  /** The bytes that a signature is over. */
  raw: Buffer
  /** A header by its lower-case name; empty when it was not sent, or more than once. */
  header: (name: string) => string
}

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

/** The header of a test notification in JSON. */
export const json = { 'content-type': 'application/json' }

/** What code needs to know of every provider. */
export type PaymentProvider = {
  /** The events that it must be told to send, by its own names. */
  events: readonly string[]
  /**
   * Builds the notification of a sale in the provider's own shape, with the provider's signature.
   * @param secret the secret of the provider's signatures; for gumroad, the token in its ping's URL
   */
  testNotification(sale: TestSale, secret: string, now: Date): SignedNotification
}

/** A marketplace that signs its notifications with a secret of the connection, and has an API. */
export type SigningProvider = PaymentProvider & {
  /** The operation that receives its notifications, and what of them vouches for the sender. */
  receiving: { operationId: string; summary: string; vouches: string }
  /** Whether it has signed the notification with the secret and, if its signatures hold a time, recently. */
  isSigned(incoming: Incoming, secret: string, now: Date): boolean
  /** @throws ProviderUnavailable, ProviderRefused when the provider has to be asked and does not answer */
  translate(incoming: Incoming, connection: ConnectionContext): Promise<Translated>
  /**
   * Tests a key with a request that changes nothing.
   * @throws ProviderRefused, ProviderUnavailable
   */
  checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void>
  /** @throws ProviderRefused for a key that may not, ProviderUnavailable */
  listOffered(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<Offered>
  /**
   * Where the customer reads the invoice or receipt of a payment.
   * @returns undefined when the provider has none
   * @throws ProviderRefused for a key that may not, ProviderUnavailable
   */
  invoicePage(
    apiUrl: string,
    apiKey: string,
    payment: NamedPayment,
    timeLimitMs: number,
  ): Promise<string | undefined>
  /** @param storeId undefined for an account with a single store */
  endpoints(apiUrl: string, apiKey: string, timeLimitMs: number, storeId?: string): ProviderEndpoints
}

/** What a translation may need besides the notification. */
export type ConnectionContext = {
  /** The connection's key; undefined when it has none, so that nothing can be asked. */
  apiKey: string | undefined
  apiUrl: string
  timeLimitMs: number
  /** Whether a product is mapped to this id of the provider. */
  isMapped(id: string): boolean
  now: Date
}
