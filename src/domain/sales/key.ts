/** The prefix of the names of sold keys in the vault. */
export const saleKeyPrefix = 'sale-key.'

/**
 * The name under which the vault keeps the key of a sold license: from just before the license exists until
 * its deliveries have succeeded, or were abandoned 30 days ago.
 */
export const saleKeyName = (licenseId: string): string => `${saleKeyPrefix}${licenseId}`
