export const licensePath = (licenseId: string): string => `/dashboard/licenses/${licenseId}`
