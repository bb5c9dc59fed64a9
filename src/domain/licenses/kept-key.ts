/** Whose kept key it is: that of a license with the key of this hash, and with this holder. */
export type KeptKeyPlace = { tenantId: string; licenseId: string; keyHash: string; subjectId: string }
