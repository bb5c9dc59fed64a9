/**
 * Where the vault keeps the raw key of a license that was sold: from just before the license exists until its
 * deliveries have ended.
 */
export const saleKeyName = (licenseId: string): string => `sale-key.${licenseId}`
