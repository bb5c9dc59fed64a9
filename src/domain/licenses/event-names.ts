import type { LicenseEvent } from './events.ts'

/**
 * The public name of each type of event. An event whose name is that of a webhook is delivered to webhooks; what
 * `src/domain/deliveries/outbox.ts` names otherwise there is the issue of a license, and an import that is taken back.
 */
export const publicNames = {
  LicenseMinted: 'license.created',
  LicenseImported: 'license.imported',
  DeviceActivated: 'license.activated',
  DeviceDeactivated: 'license.deactivated',
  LicenseReminted: 'license.reminted',
  LicenseRevoked: 'license.revoked',
  CustomerLinked: 'license.linked',
  CustomerUnlinked: 'license.unlinked',
  LicenseRenewed: 'license.renewed',
  LicenseRenewalFailed: 'license.renewal_failed',
  LicenseStarted: 'license.updated',
  LicenseTermsChanged: 'license.updated',
  UpdatesExtended: 'license.updates_extended',
  LicenseEdited: 'license.updated',
  LicenseSuspended: 'license.suspended',
  LicenseResumed: 'license.resumed',
  LicenseExpiring: 'license.expiring',
  LicenseExpired: 'license.expired',
  LicenseFellBack: 'license.expired',
  LicenseRefunded: 'license.refunded',
  LicenseReinstated: 'license.reinstated',
  SubscriptionEnded: 'license.updated',
  SaleFollowed: 'license.sale_followed',
  ReasonGiven: 'license.reason_given',
  KeyMailAsked: 'license.key_mail_asked',
  SeatFreedByCustomer: 'license.seat_freed_by_customer',
  DeviceIdentified: 'license.device_identified',
  DeviceInTwoPlaces: 'license.device_in_two_places',
  DeviceNamed: 'license.device_named',
  LicenseFileIssued: 'license.file_issued',
  LicenseFileReleased: 'license.file_released',
  RelayEnrolled: 'license.relay_enrolled',
  RelayRenewed: 'license.relay_renewed',
  RelayReleased: 'license.relay_released',
  RelayForked: 'license.relay_forked',
  SeatsExhausted: 'license.seats_exhausted',
  UsageThresholdReached: 'usage.threshold',
  UsagePeriodClosed: 'usage.period_closed',
  UsageAdjusted: 'usage.adjusted',
  LicenseSharingNoticed: 'license.shared',
  LicenseSharingAllowed: 'license.sharing_allowed',
  HolderErased: 'license.holder_erased',
  RevocationUndone: 'license.revocation_undone',
  ImportTakenBack: 'license.import_taken_back',
} as const satisfies Record<LicenseEvent['type'], string>

export type PublicName = (typeof publicNames)[LicenseEvent['type']]
