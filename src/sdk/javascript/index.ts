/**
 * Verifies offline what keyledger has signed for an app: leases, refusals and product settings. It runs in browsers, Node and
 * workers, makes no requests and stores nothing.
 */

export type { Keyset, Place } from './keyset.ts'
export { type Lease, type LeaseRefusal, verifyLease } from './lease.ts'
export {
  coversBuild,
  type EntitlementValue,
  type Lease2,
  type Lease2Refusal,
  type LeasedAllowance,
  type LeasedDevice,
  verifyLease2,
} from './lease2.ts'
export { isMintedKey, licenseKeyHash, normaliseLicenseKey } from './license-key.ts'
export { type Refusal, type RefusalDoubt, verifyRefusal } from './refusal.ts'
export { type Settings, type SettingsRefusal, verifySettings } from './settings.ts'
