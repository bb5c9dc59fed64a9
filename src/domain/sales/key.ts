/** How the names of raw keys in the vault begin. */
export const saleKeyPrefix = 'sale-key.'

/**
 * Where the vault keeps the raw key of a license that was sold: from just before the license exists until its
 * deliveries have succeeded, or were given up 30 days ago.
 */
export const saleKeyName = (licenseId: string): string => `${saleKeyPrefix}${licenseId}`
