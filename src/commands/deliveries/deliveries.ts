import { type DeliveryEntry, findDelivery } from '../../../projections/deliveries/queries.ts'
import {
  type AttemptResult,
  type Delivery,
  deliveries,
  type KnownDelivery,
} from '../../domain/deliveries/delivery.ts'
import type { DeliveryEvent } from '../../domain/deliveries/events.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type Loaded, loadFromLog, noStream } from '../../ledger/load.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

type PendingDelivery = Omit<
  Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data'],
  'deliveryId' | 'at'
>

/** The id is derived from the event and the channel, so that concurrent schedulers create one delivery. */
export const deliveryIdOf = (
  { deriveId }: Ports<'deriveId'>,
  {
    channel,
    tenantId,
    licenseId,
    licenseRevision,
  }: Pick<PendingDelivery, 'channel' | 'tenantId' | 'licenseId' | 'licenseRevision'>,
): string => deriveId('whd', channel, tenantId, licenseId, String(licenseRevision))

/** Schedules a pending delivery, due at once. */
export async function scheduleDelivery(
  services: Ports<'deriveId' | 'execute' | 'now'>,
  pending: PendingDelivery,
  origin: Origin,
): Promise<void> {
  const at = momentOf(services)
  const deliveryId = deliveryIdOf(services, pending)
  const command = { type: 'ScheduleDelivery', deliveryId, ...pending, at } as const
  await services.execute(deliveries, deliveryId, command, causeOf(origin, at), {
    found: noStream(deliveries),
  })
}

/** Records the result of an attempt, unless another process has recorded the same attempt. */
export async function recordAttempt(
  services: Ports<'execute' | 'now'>,
  { delivery, revision }: DeliveryEntry,
  made: { startedAt: string; durationMs: number; result: AttemptResult },
  origin: Origin,
): Promise<void> {
  const at = momentOf(services)
  const attempt = delivery.attempts.length + 1
  const command = { type: 'RecordAttempt', attempt, ...made, at } as const
  const found = { state: delivery, revision }
  await services.execute(deliveries, delivery.deliveryId, command, causeOf(origin, at), { found })
}

/**
 * Makes a delivery due again now, with the same id and a full schedule of attempts.
 * @throws Refusal `delivery_not_found`
 */
export async function askRedelivery(
  services: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  deliveryId: string,
  origin: Origin,
): Promise<KnownDelivery> {
  const at = momentOf(services)
  const entry = await findDelivery(services.db, tenantId, deliveryId)
  if (!entry) throw new Refusal('delivery_not_found')
  const found = { state: entry.delivery, revision: entry.revision }
  const command = { type: 'AskRedelivery', at } as const
  const options = { found, run: origin.run }
  const { state: delivery } = await services.execute(
    deliveries,
    deliveryId,
    command,
    causeOf(origin, at),
    options,
  )
  if (delivery.status === 'absent') throw new Refusal('delivery_not_found')
  return delivery
}

export function loadDelivery(services: Ports<'ledger'>, deliveryId: string): Promise<Loaded<Delivery>> {
  return loadFromLog(services.ledger, deliveryId, deliveries)
}
