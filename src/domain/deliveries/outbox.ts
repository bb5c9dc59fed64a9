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
