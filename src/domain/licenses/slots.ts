import type { LicenseEvent } from './events.ts'

/** What is known of a device is decided by its newest activation and deactivation. */
export const deviceSlots = (deviceId: string): string[] => [
  `activated ${deviceId}`,
  `deactivated ${deviceId}`,
]

/** Every other slot that there is. */
export const ownSlots: readonly string[] = [
  'reminted',
  'renewed',
  'subscription ended',
  'terms',
  'ended',
  'sale',
]

/**
 * Of the events in one slot only the newest has any effect on the folded license: a license that has been used for
 * years is folded from a few of its events. Null for an event that always counts, as one of a new type does.
 */
export function slotOf(event: LicenseEvent): string | null {
  switch (event.type) {
    case 'DeviceActivated':
      return `activated ${event.data.deviceId}`
    case 'DeviceDeactivated':
      return `deactivated ${event.data.deviceId}`
    case 'LicenseReminted':
      // One that frees the seats says when each device lost its own.
      return event.data.keepDevices ? 'reminted' : null
    case 'LicenseRenewed':
      return 'renewed'
    case 'SubscriptionEnded':
      return 'subscription ended'
    case 'LicenseTermsChanged':
      return 'terms'
    case 'LicenseExpired':
    case 'LicenseFellBack':
      return 'ended'
    case 'SaleFollowed':
      return 'sale'
    default:
      return null
  }
}
