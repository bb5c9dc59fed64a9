import type { LicenseEvent } from './events.ts'
import { isOfUsage, sharerOf } from './metered.ts'
import { type SharingRule, sharingRules } from './sharing-events.ts'

type Traits = {
  /** Which seats it changes: none, that of the device it names, or possibly all of them. */
  seats: 'none' | 'of its device' | 'of all devices'
  /**
   * Only the newest event of each slot affects the state of a license, so a license with years of history is evolved from few
   * events. An event about a device has the slot of that device. Null for one that always counts.
   */
  slot: string | null
  /** Whether it counts as use of the license, after which an import cannot be taken back. */
  isUse: boolean
  /** Whether it sets the date on which the license expires. */
  setsEnd: boolean
}

const ordinary = { seats: 'none', slot: null, isUse: true, setsEnd: false } as const
const ofDevice = { ...ordinary, seats: 'of its device' } as const
/** Its slot is that of its meter: the newest event there says up to where what happened to the meter is told. */
const ofMeter = { ...ordinary, slot: 'usage' } as const

/** What else must be known about each type of event. A new type does not compile until it is listed here. */
const traits = {
  LicenseMinted: { ...ordinary, setsEnd: true },
  LicenseImported: { ...ordinary, setsEnd: true },
  DeviceActivated: { ...ofDevice, slot: 'activated' },
  DeviceDeactivated: { ...ofDevice, slot: 'deactivated' },
  // The state holds every key that a device was ever hashed under, so all of them count.
  DeviceIdentified: ofDevice,
  DeviceInTwoPlaces: { ...ofDevice, slot: 'two places' },
  DeviceNamed: { ...ofDevice, slot: 'named' },
  LicenseFileIssued: ofDevice,
  LicenseFileReleased: ofDevice,
  SeatFreedByCustomer: ordinary,
  RelayEnrolled: ordinary,
  // Certificates before the last one count until they end.
  RelayRenewed: ordinary,
  RelayReleased: ordinary,
  RelayForked: ordinary,
  SeatAssigned: ordinary,
  SeatUnassigned: ordinary,
  PersonalKeyReplaced: ordinary,
  SeatsExhausted: { ...ordinary, slot: 'exhausted', isUse: false },
  UsageThresholdReached: ofMeter,
  UsagePeriodClosed: ofMeter,
  UsageAdjusted: { ...ofMeter, isUse: false },
  LicenseReminted: { ...ordinary, seats: 'of all devices', slot: 'reminted' },
  LicenseRevoked: ordinary,
  RevocationUndone: ordinary,
  LicenseRefunded: ordinary,
  LicenseReinstated: ordinary,
  LicenseRenewed: { ...ordinary, slot: 'renewed', setsEnd: true },
  LicenseRenewalFailed: { ...ordinary, slot: 'renewal failed', isUse: false },
  LicenseStarted: { ...ordinary, slot: 'started', setsEnd: true },
  SubscriptionEnded: { ...ordinary, slot: 'subscription ended', setsEnd: true },
  LicenseTermsChanged: { ...ordinary, slot: 'terms', setsEnd: true },
  UpdatesExtended: { ...ordinary, slot: 'updates' },
  LicenseEdited: { ...ordinary, slot: 'edited', setsEnd: true },
  LicenseSuspended: { ...ordinary, slot: 'suspension' },
  LicenseResumed: { ...ordinary, slot: 'suspension' },
  ReasonGiven: { ...ordinary, slot: 'reason' },
  KeyMailAsked: { ...ordinary, slot: 'key mail' },
  LicenseExpiring: { ...ordinary, slot: 'expiring', isUse: false },
  LicenseExpired: { ...ordinary, slot: 'ended', isUse: false },
  LicenseFellBack: { ...ordinary, slot: 'ended', isUse: false },
  SaleFollowed: { ...ordinary, slot: 'sale' },
  CustomerLinked: ordinary,
  CustomerUnlinked: ordinary,
  LicenseSharingNoticed: { ...ordinary, slot: 'sharing', isUse: false },
  LicenseSharingAllowed: { ...ordinary, slot: 'sharing allowed', isUse: false },
  HolderErased: { ...ordinary, isUse: false },
  ImportTakenBack: { ...ordinary, seats: 'of all devices', isUse: false },
} as const satisfies Readonly<Record<LicenseEvent['type'], Traits>>

const slotsOf = (isOfDevice: boolean): string[] => [
  ...new Set(
    Object.values(traits).flatMap(({ seats, slot }) =>
      slot !== null && (seats === 'of its device') === isOfDevice ? [slot] : [],
    ),
  ),
]
const slotsOfDevices = slotsOf(true)

/** The slot of an event that may also set the end of the updates, when it does: newer ones of its type may not. */
const withUpdates = (slot: string): string => `${slot} and updates`

function slotOfRule(rule: SharingRule): string {
  return `${traits.LicenseSharingNoticed.slot} ${rule}`
}

/** All slots that do not belong to a device. */
export const ownSlots: readonly string[] = [
  ...slotsOf(false),
  ...(['LicenseTermsChanged', 'LicenseEdited'] as const).flatMap((type) => withUpdates(traits[type].slot)),
  ...sharingRules.map(slotOfRule),
]

/** The slots of a device: its newest activation, deactivation and name decide over its seat. */
export const deviceSlots = (deviceId: string): string[] => slotsOfDevices.map((slot) => `${slot} ${deviceId}`)

/** @param customerId of a meter that the licenses of a customer share */
export const usageSlot = (meter: string, customerId?: string): string =>
  `usage ${customerId === undefined ? '' : `${customerId}.`}${meter}`

/** The slot of an event, see {@link Traits}. */
export function slotOf(event: LicenseEvent): string | null {
  const { slot } = traits[event.type]
  const deviceId = deviceOf(event)
  if (event.type === 'LicenseEdited' || event.type === 'LicenseTermsChanged') {
    return event.data.updatesUntil === undefined ? slot : withUpdates(traits[event.type].slot)
  }
  if (event.type === 'LicenseSharingNoticed') return slotOfRule(event.data.rule)
  if (isOfUsage(event)) return usageSlot(event.data.meter, sharerOf(event))
  if (slot !== null && deviceId !== undefined) return `${slot} ${deviceId}`
  // A remint that frees the seats is needed later too: it dates the end of each device's seat.
  return event.type === 'LicenseReminted' && !event.data.keepDevices ? null : slot
}

/** The device whose seat the event changes; undefined when it changes none, or all. */
export const deviceOf = (event: LicenseEvent): string | undefined =>
  traits[event.type].seats === 'of its device' && 'deviceId' in event.data ? event.data.deviceId : undefined

export const mayChangeAllSeats = ({ type }: Pick<LicenseEvent, 'type'>): boolean =>
  traits[type].seats === 'of all devices'
export const isUse = ({ type }: LicenseEvent): boolean => traits[type].isUse
export const setsEnd = ({ type }: LicenseEvent): boolean => traits[type].setsEnd
