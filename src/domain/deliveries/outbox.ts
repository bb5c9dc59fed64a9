import type { LicenseEvent } from '../licenses/events.ts'
import type { WebhookEventName } from '../webhooks/events.ts'
import type { DeliveryEventName } from './events.ts'

/**
 * The public name of a license event; undefined for an event that changes nothing that a license shows. A license is announced as
 * created when it was sold, and as issued when its vendor minted or imported it.
 */
export function publicNameOf(event: LicenseEvent): WebhookEventName | undefined {
  switch (event.type) {
    case 'LicenseMinted':
      return isSold(event.data) ? 'license.created' : 'license.issued'
    case 'LicenseImported':
      return 'license.issued'
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
    case 'CustomerLinked':
      return 'license.linked'
    case 'CustomerUnlinked':
      return 'license.unlinked'
    case 'HolderErased':
      return 'license.holder_erased'
    case 'RevocationUndone':
      return 'license.revocation_undone'
    case 'ReasonGiven':
    case 'KeyMailAsked':
    case 'SeatFreedByCustomer':
    case 'DeviceNamed':
    case 'SaleFollowed':
      return undefined
  }
}

/**
 * The name of the delivery of a mail with the key that the event calls for: the license was sold and the buyer's
 * address is known, or its vendor asked for the mail. Undefined for every other event.
 */
export function mailNameOf(event: LicenseEvent): DeliveryEventName | undefined {
  if (event.type === 'KeyMailAsked') return 'license.key_mail'
  if (event.type !== 'LicenseMinted' || !isSold(event.data)) return undefined
  return (event.data.holder?.email ?? null) === null ? undefined : 'license.created'
}

const isSold = ({ source }: { source: string }): boolean => source === 'sale' || source === 'test'
