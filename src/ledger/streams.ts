import { type Category, eventsOf } from '../domain/events.ts'
import type { Provider } from '../domain/integration/provider.ts'

export const tenantStream = (tenantId: string): string => `tenant-${tenantId}`
export const memberStream = (memberId: string): string => `member-${memberId}`
export const tokenStream = (tokenId: string): string => `token-${tokenId}`
/** By the hash of the device code, which the program that asked keeps to itself. */
export const loginStream = (deviceCodeHash: string): string => `login-${deviceCodeHash}`
export const confirmationStream = (confirmationId: string): string => `confirmation-${confirmationId}`
export const licenseStream = (licenseId: string): string => `license-${licenseId}`
export const customerStream = (customerId: string): string => `customer-${customerId}`
/** One a tenant. */
export const webhookStream = (tenantId: string): string => `webhook-${tenantId}`
/** One a tenant. */
export const signingStream = (tenantId: string): string => `signing-${tenantId}`
/** Neither id can hold a dot, so the pair reads back unambiguously. */
export const productStream = (tenantId: string, productId: string): string =>
  `product-${tenantId}.${productId}`
/** How one product's customers are sent their keys. */
export const mailStream = (tenantId: string, productId: string): string => `mail-${tenantId}.${productId}`
/** Neither a tenant's id nor a provider's name can hold a dot. */
export const integrationStream = (tenantId: string, provider: Provider): string =>
  `integration-${tenantId}.${provider}`
export const testPurchaseStream = (testPurchaseId: string): string => `testpurchase-${testPurchaseId}`
export const deliveryStream = (deliveryId: string): string => `delivery-${deliveryId}`
export const deliveryIdIn = (stream: string): string => stream.slice('delivery-'.length)

/** By the keyed hash of the machine; none of the three can hold a dot. */
export const trialStream = (tenantId: string, productId: string, machine: string): string =>
  `trial-${tenantId}.${productId}.${machine}`

/** By the hash of the provider's own id of the sale, which may hold anything. */
export const saleStream = (tenantId: string, provider: Provider, saleIdHash: string): string =>
  `sale-${tenantId}.${provider}.${saleIdHash}`
/** By the hash of a link by which the provider names a sale. */
export const noticeStream = (tenantId: string, provider: Provider, linkHash: string): string =>
  `notice-${tenantId}.${provider}.${linkHash}`

/** One a look; a tenant's id can hold no dot. */
export const auditStream = (tenantId: string, auditId: string): string => `audit-${tenantId}.${auditId}`

/** A tenant's id can hold no dot. */
export const subjectStream = (tenantId: string, subjectId: string): string =>
  `subject-${tenantId}.${subjectId}`

/** One a log: what the log says of itself. */
export const identityStream = 'ledger-identity'

/** The prefixes by which the ledger's own streams are told from whatever else a shared cluster holds. */
export const ownPrefixes: readonly string[] = Object.keys(eventsOf).map((category) => `${category}-`)

/** The part of a stream's name before the first `-`; undefined for a stream that is not the ledger's. */
export function categoryOf(stream: string): Category | undefined {
  const [prefix = '', ...rest] = stream.split('-')
  return rest.length > 0 && isCategory(prefix) ? prefix : undefined
}

function isCategory(name: string): name is Category {
  return Object.hasOwn(eventsOf, name)
}
