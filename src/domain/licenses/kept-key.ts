/** Whose kept key it is: that of a license with the key of this hash, and with this holder. */
export type KeptKeyPlace = { tenantId: string; licenseId: string; keyHash: string; subjectId: string }

/** The present period of a product, which ends when key recovery is turned off, and whether the product keeps keys in it. */
export type KeptPeriod = { tenantId: string; productId: string; period: number; keeps: boolean }
