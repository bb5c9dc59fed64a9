import { type DeliveryContent, readContents } from '../../projections/deliveries/content.ts'
import { listPublicEvents } from '../../projections/deliveries/public-events.ts'
import { deliveryIdOf } from '../commands/deliveries/deliveries.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import { saleKeyName } from '../domain/sales/key.ts'
import type { WebhookEventName } from '../domain/webhooks/events.ts'
import type { Ports } from '../ports.ts'
import { unknownPerson } from '../vault/subjects.ts'
import { FedEvent, type Payload, payloadVersion } from './payloads.ts'

/** What is sent, and what of it an answer must not repeat into the log. */
export type PublicEvent = { payload: Payload; confidential: readonly string[] }

/**
 * What a delivery says, made afresh for each try out of what is recorded: the same every time, until the customer is
 * erased. The key of a sale is in it as long as it is kept, see `keyKeptUntil`.
 */
export async function publicEventOf(
  services: Ports<'secrets' | 'subjects'>,
  delivery: KnownDelivery,
  content: DeliveryContent,
): Promise<PublicEvent> {
  const { tenantId, licenseId, deliveryId: id, event, sequence } = delivery
  const [[person = unknownPerson], key] = await Promise.all([
    services.subjects.openPeople(tenantId, [content.issued.holder]),
    event === 'license.created' ? services.secrets.open(tenantId, saleKeyName(licenseId)) : undefined,
  ])
  const payload = payloadOf(content, { id, event, sequence: sequence ?? 1, email: person.email, key })
  const confidential = [key, person.email, person.name].filter((text) => typeof text === 'string')
  return { payload, confidential }
}

type EventFields<Sequence> = {
  id: string
  event: WebhookEventName
  sequence: Sequence
  email: string | null
  key: string | undefined
}

function payloadOf<Sequence extends number | null>(
  content: DeliveryContent,
  { id, event, sequence, email, key }: EventFields<Sequence>,
) {
  const { tenantId, licenseId, productId, test } = content.issued
  const { keyTypeId } = content.terms
  return {
    id,
    created: unixSeconds(content.at),
    version: payloadVersion,
    event,
    tenant_id: tenantId,
    license_id: licenseId,
    product_id: productId,
    key_type_id: keyTypeId,
    customer_email: email,
    test,
    sequence,
    ...particulars(content, key),
  } as const
}

/** What an event says beside what all say. */
function particulars(content: DeliveryContent, key: string | undefined) {
  const { event, issued, terms, deviceName, sessionId } = content
  switch (event.type) {
    case 'LicenseMinted':
      return { key: key ?? null, session_id: sessionId ?? issued.saleId }
    case 'DeviceActivated':
      return {
        device_id: event.data.deviceId,
        instance_id: event.data.instanceId,
        device_name: event.data.name,
      }
    case 'DeviceDeactivated':
      return {
        device_id: event.data.deviceId,
        instance_id: event.data.instanceId,
        device_name: deviceName ?? '',
      }
    case 'LicenseTermsChanged':
    case 'SubscriptionEnded': {
      const { quantity, deviceLimit } = terms
      const { expiresAt } = event.data
      return { quantity, device_limit: deviceLimit, expires_at: expiresAt && unixSeconds(expiresAt) }
    }
    case 'LicenseRefunded': {
      const { saleId, amount, totalRefunded, currency } = event.data
      return { sale_id: saleId, amount, total_refunded: totalRefunded, currency }
    }
    case 'LicenseReinstated':
      return { sale_id: event.data.saleId }
    case 'LicenseRenewed':
      return { expires_at: unixSeconds(event.data.expiresAt) }
    default:
      return {}
  }
}

/** The same as it may be shown again, with the key masked as licenses show it; of several deliveries at once. */
export async function shownPayloads(
  services: Ports<'db' | 'subjects'>,
  tenantId: string,
  deliveries: readonly Pick<
    KnownDelivery,
    'deliveryId' | 'licenseId' | 'licenseRevision' | 'event' | 'sequence'
  >[],
) {
  const contents = await readContents(
    services.db,
    deliveries.map(({ licenseId, licenseRevision: revision }) => ({ licenseId, revision })),
  )
  const holders = contents.map((content) => content?.issued.holder ?? null)
  const people = await services.subjects.openPeople(tenantId, holders)
  return deliveries.map(({ deliveryId: id, licenseId, licenseRevision, event, sequence }, index) => {
    const content = contents[index]
    if (!content) throw new Error(`${licenseId} has no event at ${licenseRevision}`)
    const { email = null } = people[index] ?? unknownPerson
    return payloadOf(content, { id, event, sequence, email, key: content.issued.displayKey })
  })
}

/** {@link shownPayloads} of one. */
export async function shownPayload(
  services: Ports<'db' | 'subjects'>,
  delivery: KnownDelivery,
): Promise<object> {
  const [payload = {}] = await shownPayloads(services, delivery.tenantId, [delivery])
  return payload
}

/** Where a reader of the feed stands: behind this event. It is the same in every copy of the log. */
export type FeedPlace = { licenseId: string; revision: number; at: string }

/**
 * A tenant's public events behind a position, oldest first, whether or not a webhook took them: each with the id and the
 * body that its delivery has or would have, and the key masked.
 */
export async function readPublicEvents(
  services: Ports<'db' | 'deriveId' | 'subjects'>,
  tenantId: string,
  { after, limit }: { after: bigint | undefined; limit: number },
): Promise<{ items: { event: FedEvent; place: FeedPlace }[]; more: boolean }> {
  const rows = await listPublicEvents(services.db, tenantId, after, limit + 1)
  const page = rows.slice(0, limit)
  const deliveries = page.map(({ licenseId, revision: licenseRevision, event, sequence }) => {
    const place = { channel: 'webhook', tenantId, licenseId, licenseRevision } as const
    return { deliveryId: deliveryIdOf(services, place), licenseId, licenseRevision, event, sequence }
  })
  const payloads = await shownPayloads(services, tenantId, deliveries)
  const items = page.map(({ licenseId, revision, at }, index) => {
    return { event: FedEvent.parse(payloads[index]), place: { licenseId, revision, at } }
  })
  return { items, more: rows.length > limit }
}
