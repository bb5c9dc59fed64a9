import { type Category, eventsOf } from './events.ts'
import type { Provider } from './integrations/provider.ts'

/** The name of a stream: its category and its id. */
export const streamName = (category: Category, id: string): string => `${category}-${id}`

/** Joins ids into one. Only the last may contain a dot, so the result can be split unambiguously. */
const joinIds = (...ids: string[]): string => ids.join('.')

export const productKey = (tenantId: string, productId: string): string => joinIds(tenantId, productId)
export const integrationKey = (tenantId: string, provider: Provider): string => joinIds(tenantId, provider)
/** A person of a tenant. */
export const subjectKey = (tenantId: string, subjectId: string): string => joinIds(tenantId, subjectId)
export const auditKey = (tenantId: string, auditId: string): string => joinIds(tenantId, auditId)
/** With the keyed hash of the machine. */
export const trialKey = (tenantId: string, productId: string, machine: string): string =>
  joinIds(tenantId, productId, machine)
/** With the hash of the provider's id of the sale, which may contain any character. */
export const saleKey = (tenantId: string, provider: Provider, saleIdHash: string): string =>
  joinIds(tenantId, provider, saleIdHash)
/** With the hash of a link by which the provider names a sale. */
export const linkKey = (tenantId: string, provider: Provider, linkHash: string): string =>
  joinIds(tenantId, provider, linkHash)

/** What a license, or a customer for all of its licenses, has used under one meter. */
export const meterKey = (ownerId: string, meter: string): string => joinIds(ownerId, meter)

export const tenantStream = (tenantId: string): string => streamName('tenant', tenantId)
export const memberStream = (memberId: string): string => streamName('member', memberId)
export const tokenStream = (tokenId: string): string => streamName('token', tokenId)
export const confirmationStream = (confirmationId: string): string =>
  streamName('confirmation', confirmationId)
export const licenseStream = (licenseId: string): string => streamName('license', licenseId)
export const customerStream = (customerId: string): string => streamName('customer', customerId)
export const webhookStream = (tenantId: string): string => streamName('webhook', tenantId)
export const productStream = (tenantId: string, productId: string): string =>
  streamName('product', productKey(tenantId, productId))
export const integrationStream = (tenantId: string, provider: Provider): string =>
  streamName('integration', integrationKey(tenantId, provider))
export const testPurchaseStream = (testPurchaseId: string): string =>
  streamName('testpurchase', testPurchaseId)
export const deliveryStream = (deliveryId: string): string => streamName('delivery', deliveryId)
/** Of the keys that sign for a tenant. */
export const signingStream = (tenantId: string): string => streamName('signing', tenantId)
export const deliveryIdIn = (stream: string): string => stream.slice('delivery-'.length)
export const saleStream = (tenantId: string, provider: Provider, saleIdHash: string): string =>
  streamName('sale', saleKey(tenantId, provider, saleIdHash))
/** Its category is `notice`, the first name of links: recorded names never change. */
export const linkStream = (tenantId: string, provider: Provider, linkHash: string): string =>
  streamName('notice', linkKey(tenantId, provider, linkHash))

/** One in each log, about the log itself. */
export const identityStream = 'ledger-identity'

/** The id of the one stream of a ledger that says in whose name its checkpoints are signed. */
export const notaryLogId = 'log'
export const notaryStream = streamName('notary', notaryLogId)

/** The prefixes of the ledger's own streams, in a cluster that may hold others. */
export const ownPrefixes: readonly string[] = Object.keys(eventsOf).map((category) => `${category}-`)

/** The part of a stream's name before the first `-`; undefined for a stream that is not the ledger's. */
export function categoryOf(stream: string): Category | undefined {
  const [prefix = '', ...rest] = stream.split('-')
  return rest.length > 0 && isCategory(prefix) ? prefix : undefined
}

function isCategory(name: string): name is Category {
  return Object.hasOwn(eventsOf, name)
}
