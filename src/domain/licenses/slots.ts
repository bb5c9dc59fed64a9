import type { LicenseEvent } from './events.ts'

/** The slots of a device: its newest activation, deactivation and name decide over its seat. */
export const deviceSlots = (deviceId: string): string[] => [
  `activated ${deviceId}`,
  `deactivated ${deviceId}`,
  `named ${deviceId}`,
]

/** All slots that do not belong to a device. */
export const ownSlots: readonly string[] = [
  'reminted',
  'renewed',
  'subscription ended',
  'terms',
  'edited',
  'suspension',
  'reason',
  'key mail',
  'ended',
  'sale',
]

/**
 * The slot of an event. Only the newest event of each slot affects the state of the license, so a license
 * with years of history is evolved from few events. Null for an event that always counts, such as one of a
 * new type.
 */
export function slotOf(event: LicenseEvent): string | null {
  switch (event.type) {
    case 'DeviceActivated':
      return `activated ${event.data.deviceId}`
    case 'DeviceDeactivated':
      return `deactivated ${event.data.deviceId}`
    case 'DeviceNamed':
      return `named ${event.data.deviceId}`
    case 'LicenseReminted':
      // A remint that frees the seats is needed later too: it dates the end of each device's seat.
      return event.data.keepDevices ? 'reminted' : null
    case 'LicenseRenewed':
      return 'renewed'
    case 'SubscriptionEnded':
      return 'subscription ended'
    case 'LicenseTermsChanged':
      return 'terms'
    case 'LicenseEdited':
      return 'edited'
    case 'LicenseSuspended':
    case 'LicenseResumed':
      return 'suspension'
    case 'ReasonGiven':
      return 'reason'
    case 'KeyMailAsked':
      return 'key mail'
    case 'LicenseExpired':
    case 'LicenseFellBack':
      return 'ended'
    case 'SaleFollowed':
      return 'sale'
    default:
      return null
  }
}
