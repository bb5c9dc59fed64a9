import type { DeliveryEvent } from '../../src/domain/deliveries/events.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { deliveryStream } from '../../src/domain/streams.ts'

export const at = '2026-03-01T12:00:00.000Z'

/** An event of a delivery as an entry of the log. */
export function recordedEntry(
  deliveryId: string,
  event: DeliveryEvent,
  { revision = 0, position = 1n } = {},
): LogEntry {
  const metadata = {
    requestId: 'req_1',
    actor: 'system:test',
    causationId: 'req_1',
    correlationId: 'req_1',
    schema: 1,
    at,
  }
  const stream = deliveryStream(deliveryId)
  return {
    readable: true,
    category: 'delivery',
    event,
    stream,
    revision,
    position,
    id: 'event',
    metadata,
  }
}

export const scheduled = (deliveryId: string, position = 1n): LogEntry =>
  recordedEntry(
    deliveryId,
    {
      type: 'DeliveryScheduled',
      data: {
        deliveryId,
        tenantId: 'acme',
        channel: 'webhook',
        endpointId: 'first',
        event: 'license.created',
        licenseId: 'lic_1',
        licenseRevision: 0,
        sequence: 1,
        at,
      },
    },
    { position },
  )
