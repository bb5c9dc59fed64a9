import { publicNames } from '../licenses/event-names.ts'
import type { LicenseEvent } from '../licenses/events.ts'
import { WebhookEventName } from '../webhooks/events.ts'
import type { DeliveryEventName } from './events.ts'

/**
 * The name under which a license event is delivered to webhooks; undefined for an event that is not. A license is announced as
 * created when it was sold, and as issued when its vendor minted or imported it.
 */
export function publicNameOf(event: LicenseEvent): WebhookEventName | undefined {
  switch (event.type) {
    case 'LicenseMinted':
      return isSold(event.data) ? 'license.created' : 'license.issued'
    case 'LicenseImported':
      return 'license.issued'
    case 'ImportTakenBack':
      return 'license.revoked'
    default: {
      const name = publicNames[event.type]
      return isOfWebhooks(name) ? name : undefined
    }
  }
}

const ofWebhooks: ReadonlySet<string> = new Set(WebhookEventName.options)
const isOfWebhooks = (name: string): name is WebhookEventName => ofWebhooks.has(name)

const mailsOfEnd = {
  LicenseExpiring: 'license.expiring',
  LicenseExpired: 'license.expired',
  LicenseFellBack: 'license.expired',
  LicenseRenewalFailed: 'license.renewal_failed',
} as const

/** An event about the end of a license, or about a renewal that failed, of which its holder may be told. */
export type EventOfEnd = Extract<LicenseEvent, { type: keyof typeof mailsOfEnd }>

export const isOfEnd = (event: LicenseEvent): event is EventOfEnd => event.type in mailsOfEnd

/**
 * The name of the delivery of a mail that the event calls for: with the key, if the license was sold and the buyer's
 * address is known, or its vendor asked for the mail; about its end, a failed renewal, a threshold of a meter or its
 * devices, if the product tells its customers; or to a person who was given a seat. Undefined for every other event.
 */
export function mailNameOf(event: LicenseEvent): DeliveryEventName | undefined {
  if (event.type === 'KeyMailAsked') return 'license.key_mail'
  if (event.type === 'UsageThresholdReached') return event.data.mail && 'usage.threshold'
  if (isOfEnd(event)) return event.data.mail && mailsOfEnd[event.type]
  if (event.type === 'DeviceActivated') return event.data.mail && 'license.activated'
  if (event.type === 'SeatsExhausted') return event.data.mail && 'license.seats_exhausted'
  if (event.type === 'SeatAssigned') return 'license.seat_assigned'
  if (event.type !== 'LicenseMinted' || !isSold(event.data)) return undefined
  return (event.data.holder?.email ?? null) === null ? undefined : 'license.created'
}

const isSold = ({ source }: { source: string }): boolean => source === 'sale' || source === 'test'
