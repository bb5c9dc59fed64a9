import type { LicenseEvent } from '../licenses/events.ts'
import type { WebhookEventName } from '../webhooks/events.ts'

/**
 * The public name of a license event; undefined for an event that is not public. A license is announced as
 * created when it was sold, not when its vendor minted it.
 */
export function publicNameOf(event: LicenseEvent): WebhookEventName | undefined {
  switch (event.type) {
    case 'LicenseMinted':
      return isSold(event.data) ? 'license.created' : undefined
    case 'DeviceActivated':
      return 'license.activated'
    case 'DeviceDeactivated':
      return 'license.deactivated'
    case 'LicenseExpired':
    case 'LicenseFellBack':
      return 'license.expired'
    case 'LicenseRenewed':
      return 'license.renewed'
    case 'LicenseRefunded':
      return 'license.refunded'
    case 'LicenseRevoked':
    case 'ImportTakenBack':
      return 'license.revoked'
    case 'LicenseReminted':
      return 'license.reminted'
    case 'LicenseReinstated':
      return 'license.reinstated'
    case 'LicenseTermsChanged':
    case 'SubscriptionEnded':
    case 'LicenseEdited':
      return 'license.updated'
    case 'LicenseSuspended':
      return 'license.suspended'
    case 'LicenseResumed':
      return 'license.resumed'
    case 'ReasonGiven':
    case 'LicenseImported':
    case 'CustomerLinked':
    case 'CustomerUnlinked':
    case 'SaleFollowed':
    case 'HolderErased':
    case 'RevocationUndone':
      return undefined
  }
}

/**
 * Whether the event calls for a mail with the key: the license was sold, and the buyer's address is known.
 */
export const wantsMail = (event: LicenseEvent): boolean =>
  event.type === 'LicenseMinted' && isSold(event.data) && (event.data.holder?.email ?? null) !== null

const isSold = ({ source }: { source: string }): boolean => source === 'sale' || source === 'test'
