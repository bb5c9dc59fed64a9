/** Where the receipt of a license is read. */
export const receiptUrl = (baseUrl: string, licenseId: string): string =>
  `${baseUrl}/v1/licenses/${licenseId}/receipt`
