import { type DeliveryContent, readContents } from '../../projections/deliveries/content.ts'
import { listPublicEvents } from '../../projections/deliveries/public-events.ts'
import { readLicensesAfter } from '../../projections/history/queries.ts'
import { eventIdOf } from '../commands/deliveries.ts'
import type { KnownDelivery } from '../domain/deliveries/delivery.ts'
import type { DeliveryEventName } from '../domain/deliveries/events.ts'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import { saleKeyName } from '../domain/licenses/keys.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import type { UsageEvent } from '../domain/licenses/metered.ts'
import { WebhookEventName } from '../domain/webhooks/events.ts'
import type { Ports } from '../ports.ts'
import { unknownPerson } from '../vault/subjects.ts'
import { type Payload, payloadVersion } from './payloads.ts'

/** A payload, and the strings in it that an excerpt of the answer must not contain. */
export type PublicEvent = { payload: Payload; confidential: readonly string[] }

/**
 * The content of a delivery, computed from recorded data for each attempt: the same each time until the
 * customer is erased. It holds the key of a sale as long as the vault does, see `keyKeptUntil`.
 */
export async function publicEventOf(
  ports: Ports<'deriveId' | 'secrets' | 'subjects'>,
  delivery: KnownDelivery,
  content: DeliveryContent,
): Promise<PublicEvent> {
  const { tenantId, licenseId, sequence } = delivery
  const event = WebhookEventName.parse(delivery.event)
  const [[person = unknownPerson], key] = await Promise.all([
    ports.subjects.openPeople(tenantId, [content.holder]),
    event === 'license.created' ? ports.secrets.open(tenantId, saleKeyName(licenseId)) : undefined,
  ])
  const id = eventIdOf(ports, delivery)
  const payload = payloadOf(content, { id, event, sequence, email: person.email, key })
  const confidential = [key, person.email, person.name].filter((text) => typeof text === 'string')
  return { payload, confidential }
}

type EventFields<Name> = {
  id: string
  event: Name
  sequence: number | null
  email: string | null
  key: string | undefined
}

function payloadOf<Name extends DeliveryEventName>(
  content: DeliveryContent,
  { id, event, sequence, email, key }: EventFields<Name>,
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
    ...particulars(content, event, key),
  } as const
}

/** The fields of an event besides the common ones. */
function particulars(content: DeliveryContent, name: DeliveryEventName, key: string | undefined) {
  const { event, issued, terms, deviceName, sessionId } = content
  switch (event.type) {
    case 'LicenseMinted':
    case 'LicenseImported':
      return name === 'license.issued'
        ? { source: issued.source, ...termsIn(terms, issued.expiresAt, issued.updatesUntil) }
        : { key: key ?? null, session_id: sessionId ?? issued.saleId }
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
    case 'LicenseEdited':
      return termsIn(terms, event.data.expiresAt, event.data.updatesUntil)
    case 'SubscriptionEnded':
    case 'LicenseStarted':
      return termsIn(terms, event.data.expiresAt)
    case 'UpdatesExtended':
      return { updates_until: unixSeconds(event.data.updatesUntil) }
    case 'CustomerLinked':
    case 'CustomerUnlinked':
      return { customer_id: event.data.customerId }
    case 'LicenseRefunded': {
      const { saleId, amount, totalRefunded, currency } = event.data
      return { sale_id: saleId, amount, total_refunded: totalRefunded, currency }
    }
    case 'LicenseReinstated':
      return { sale_id: event.data.saleId }
    case 'LicenseExpiring':
      return { expires_at: unixSeconds(event.data.expiresAt), days_before: event.data.daysBefore }
    case 'LicenseRenewalFailed': {
      const { saleId, paymentId, attempt, nextAttemptAt } = event.data
      const next = nextAttemptAt && unixSeconds(nextAttemptAt)
      return { sale_id: saleId, payment_id: paymentId, attempt, next_attempt_at: next }
    }
    case 'RelayForked':
      return { relay_id: event.data.relayId, relay_name: event.data.name }
    case 'UsageThresholdReached':
    case 'UsagePeriodClosed':
      return usageIn(event)
    case 'SeatsExhausted':
      return { seats: event.data.seats, waiting: event.data.waiting }
    case 'SeatAssigned':
      return { person_id: event.data.personId }
    case 'SeatUnassigned': {
      const { personId, waitsUntil } = event.data
      return { person_id: personId, waits_until: waitsUntil === undefined ? null : unixSeconds(waitsUntil) }
    }
    case 'LicenseSharingNoticed': {
      const { rule, count, limit, day, action } = event.data
      return { rule, count, limit, day, suspended: action === 'suspend' }
    }
    case 'LicenseSharingAllowed':
      return { allowed: event.data.allowed }
    case 'LicenseRenewed':
      return { expires_at: unixSeconds(event.data.expiresAt) }
    default:
      return {}
  }
}

function usageIn(event: Extract<UsageEvent, { type: 'UsageThresholdReached' | 'UsagePeriodClosed' }>) {
  const { meter, unit, customerId, used, overage, startsAt } = event.data
  const of = { meter, unit, customer_id: customerId ?? null, period_starts_at: unixSeconds(startsAt) }
  if (event.type === 'UsageThresholdReached') {
    const { percent, remaining, endsAt } = event.data
    return { ...of, resets_at: endsAt && unixSeconds(endsAt), percent, used, remaining, overage }
  }
  const { endedAt, rolledOver, included, credits } = event.data
  const from = { from_rolled_over: rolledOver, from_included: included, from_credits: credits }
  return { ...of, period_ended_at: unixSeconds(endedAt), used, ...from, overage }
}

/** @param updatesUntil undefined where the event does not set it */
const termsIn = (
  { quantity, deviceLimit }: DeliveryContent['terms'],
  expiresAt: string | null,
  updatesUntil?: string | null,
) => ({
  quantity,
  device_limit: deviceLimit,
  expires_at: expiresAt && unixSeconds(expiresAt),
  ...(updatesUntil !== undefined && { updates_until: updatesUntil && unixSeconds(updatesUntil) }),
})

/** The payloads of several deliveries for display, with the key masked as in the list of licenses. */
export async function shownPayloads<Name extends DeliveryEventName>(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  tenantId: string,
  deliveries: readonly (Pick<KnownDelivery, 'licenseId' | 'licenseRevision' | 'sequence'> & {
    event: Name
  })[],
) {
  const contents = await readContents(
    ports.db,
    deliveries.map(({ licenseId, licenseRevision: revision }) => ({ licenseId, revision })),
  )
  const holders = contents.map((content) => content?.holder ?? null)
  const people = await ports.subjects.openPeople(tenantId, holders)
  return deliveries.map(({ licenseId, licenseRevision, event, sequence }, index) => {
    const id = eventIdOf(ports, { tenantId, licenseId, licenseRevision })
    const content = contents[index]
    if (!content) throw new Error(`${licenseId} has no event at ${licenseRevision}`)
    const { email = null } = people[index] ?? unknownPerson
    return payloadOf(content, { id, event, sequence, email, key: content.issued.displayKey })
  })
}

/** As {@link shownPayloads}, for one delivery. */
export async function shownPayload(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  delivery: KnownDelivery,
): Promise<object> {
  const [payload = {}] = await shownPayloads(ports, delivery.tenantId, [delivery])
  return payload
}

/** A reader's position in the feed: after this event. It is the same in every copy of the log. */
export type FeedPlace = { licenseId: string; revision: number; at: string }

/** An event of the feed: its body as it is displayed, and the license after it. */
export type FedContent = { payload: Payload; license: IssuedLicense; place: FeedPlace; position: bigint }

/**
 * A tenant's public events after a position, oldest first, whether or not they were delivered to a webhook:
 * each with the id and the body of its delivery, and the key masked.
 * @param page `licenseId` leaves out the events of other licenses
 */
export async function readPublicEvents(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  tenantId: string,
  { after, licenseId, limit }: { after: bigint | undefined; licenseId?: string | undefined; limit: number },
): Promise<{ items: FedContent[]; more: boolean }> {
  const rows = await listPublicEvents(ports.db, tenantId, { after, licenseId, most: limit + 1 })
  const page = rows.slice(0, limit)
  const deliveries = page.map(({ revision: licenseRevision, ...event }) => ({ ...event, licenseRevision }))
  const [payloads, licenses] = await Promise.all([
    shownPayloads(ports, tenantId, deliveries),
    readLicensesAfter(ports.db, page),
  ])
  const items = page.flatMap(({ licenseId, revision, at, position }, index) => {
    const [payload, license] = [payloads[index], licenses[index]]
    return payload && license ? { payload, license, place: { licenseId, revision, at }, position } : []
  })
  return { items, more: rows.length > limit }
}
