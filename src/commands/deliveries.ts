import { isKeySpent, isMailedKeySpent } from '../../projections/deliveries/keys.ts'
import { type DeliveryEntry, findDelivery } from '../../projections/deliveries/queries.ts'
import { findPlacesBefore } from '../../projections/deliveries/turns.ts'
import { findLicense } from '../../projections/licenses/queries.ts'
import {
  type AttemptResult,
  type Delivery,
  deliveries,
  type KnownDelivery,
} from '../domain/deliveries/delivery.ts'
import type { DeliveryEvent } from '../domain/deliveries/events.ts'
import { mailedKeyName, saleKeyName } from '../domain/licenses/keys.ts'
import { Refusal } from '../domain/refusal.ts'
import { firstEndpointId } from '../domain/webhooks/endpoint.ts'
import { type Loaded, loadFromLog, noStream } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

type PendingDelivery = Omit<
  Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data'],
  'deliveryId' | 'at'
>

type PublicEventRef = Pick<PendingDelivery, 'tenantId' | 'licenseId' | 'licenseRevision'>

/**
 * The id is derived from the event and the receiver, so that concurrent schedulers create one delivery. That of the
 * first endpoint does not name it, since it was the only one once.
 */
export function deliveryIdOf(
  { deriveId }: Ports<'deriveId'>,
  {
    channel,
    endpointId,
    tenantId,
    licenseId,
    licenseRevision,
  }: PublicEventRef & Pick<PendingDelivery, 'channel' | 'endpointId'>,
): string {
  const other = endpointId === null || endpointId === firstEndpointId ? [] : [endpointId]
  return deriveId('whd', channel, tenantId, licenseId, String(licenseRevision), ...other)
}

/**
 * The id under which every endpoint and the feed get an event, so that a receiver recognizes it: the id of its
 * delivery to the first endpoint.
 */
export const eventIdOf = (ports: Ports<'deriveId'>, event: PublicEventRef): string =>
  deliveryIdOf(ports, { ...event, channel: 'webhook', endpointId: firstEndpointId })

/** The deliveries that others wait for: those right before them in their license, by the id of the one that waits. */
export async function findWaitedFor(
  ports: Ports<'db' | 'deriveId'>,
  waiting: readonly KnownDelivery[],
): Promise<Map<string, string>> {
  const before = await findPlacesBefore(ports.db, waiting)
  return new Map(
    waiting.flatMap((delivery) => {
      const licenseRevision = before.get(delivery.deliveryId)
      return licenseRevision === undefined
        ? []
        : [[delivery.deliveryId, deliveryIdOf(ports, { ...delivery, licenseRevision })] as const]
    }),
  )
}

/** Schedules a pending delivery, due at once. */
export async function scheduleDelivery(
  ports: Ports<'deriveId' | 'execute' | 'now'>,
  pending: PendingDelivery,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const deliveryId = deliveryIdOf(ports, pending)
  const command = { type: 'ScheduleDelivery', deliveryId, ...pending, at } as const
  await ports.execute(deliveries, deliveryId, command, causeOf(origin, at), {
    loaded: noStream(deliveries),
  })
}

/** Records the result of an attempt, unless another process has recorded the same attempt. */
export async function recordAttempt(
  ports: Ports<'execute' | 'now'>,
  { delivery, revision }: DeliveryEntry,
  made: { startedAt: string; durationMs: number; result: AttemptResult },
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const attempt = delivery.attempts.length + 1
  const command = { type: 'RecordAttempt', attempt, ...made, at } as const
  const loaded = { state: delivery, revision }
  await ports.execute(deliveries, delivery.deliveryId, command, causeOf(origin, at), { loaded })
}

/**
 * Records that the next attempt has begun and that its result is unknown, unless a process has recorded the attempt. The
 * delivery is due again.
 */
export async function recordInterruption(
  ports: Ports<'execute' | 'now'>,
  { delivery, revision }: DeliveryEntry,
  startedAt: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const attempt = delivery.attempts.length + 1
  const command = { type: 'RecordInterruption', attempt, startedAt, at } as const
  const loaded = { state: delivery, revision }
  await ports.execute(deliveries, delivery.deliveryId, command, causeOf(origin, at), { loaded })
}

/**
 * Makes a delivery due again now, with the same id and a full schedule of attempts.
 * @throws Refusal `delivery_not_found`
 */
export async function askRedelivery(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  deliveryId: string,
  origin: Origin,
): Promise<KnownDelivery> {
  const at = momentOf(ports)
  const entry = await findDelivery(ports.db, tenantId, deliveryId)
  if (!entry) throw new Refusal('delivery_not_found')
  const loaded = { state: entry.delivery, revision: entry.revision }
  const command = { type: 'AskRedelivery', at } as const
  const options = { loaded, run: origin.run }
  const { state: delivery } = await ports.execute(
    deliveries,
    deliveryId,
    command,
    causeOf(origin, at),
    options,
  )
  if (delivery.status === 'absent') throw new Refusal('delivery_not_found')
  return delivery
}

/**
 * Makes a delivery due again for a replay, and schedules it if it never was. A repetition changes nothing, nor does a
 * delivery that is on its way.
 */
export async function replayDelivery(
  ports: Ports<'deriveId' | 'execute' | 'now'>,
  event: Omit<PendingDelivery, 'sequence' | 'channel'>,
  replayId: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const delivery = { ...event, channel: 'webhook', sequence: null } as const
  const deliveryId = deliveryIdOf(ports, delivery)
  const scheduled = { ...delivery, deliveryId, at }
  const command = { type: 'AskReplay', replayId, scheduled, at } as const
  await ports.execute(deliveries, deliveryId, command, causeOf(origin, at))
}

export function loadDelivery(ports: Ports<'ledger'>, deliveryId: string): Promise<Loaded<Delivery>> {
  return loadFromLog(ports.ledger, deliveryId, deliveries)
}

/**
 * Destroys the raw key of a sale once every delivery that carries it has succeeded, or was abandoned 30 days
 * ago.
 */
export async function destroySpentKey(
  ports: Ports<'db' | 'now' | 'secrets'>,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  if (await isKeySpent(ports.db, licenseId, momentOf(ports))) {
    await ports.secrets.destroy(tenantId, saleKeyName(licenseId))
  }
}

/** Destroys the present key of a license, sealed only to be mailed, once no mail needs it any more. */
export async function destroyMailedKey(
  ports: Ports<'db' | 'now' | 'secrets'>,
  tenantId: string,
  licenseId: string,
): Promise<void> {
  const found = await findLicense(ports.db, tenantId, licenseId)
  if (found && (await isMailedKeySpent(ports.db, licenseId, momentOf(ports)))) {
    await ports.secrets.destroy(tenantId, mailedKeyName(licenseId, found.license.keyHash))
  }
}
