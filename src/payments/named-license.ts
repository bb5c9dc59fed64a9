/**
 * The license that a checkout names in its custom data, for credits. A buyer who changes it gives away what they have paid for; anything
 * but an id is ignored.
 */
export function namedLicense(custom: unknown): { licenseId?: string } {
  const { license_id: licenseId } = Object(custom) as { license_id?: unknown }
  return typeof licenseId === 'string' && /^lic_[0-9a-z]{26}$/.test(licenseId) ? { licenseId } : {}
}
