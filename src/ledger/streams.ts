import { type Category, eventsOf } from '../domain/events.ts'

export const tenantStream = (tenantId: string): string => `tenant-${tenantId}`
export const memberStream = (memberId: string): string => `member-${memberId}`
export const tokenStream = (tokenId: string): string => `token-${tokenId}`
export const confirmationStream = (confirmationId: string): string => `confirmation-${confirmationId}`
export const licenseStream = (licenseId: string): string => `license-${licenseId}`
/** Neither id can hold a dot, so the pair reads back unambiguously. */
export const productStream = (tenantId: string, productId: string): string =>
  `product-${tenantId}.${productId}`

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
