/** A delivery is known by what was heard of it, until it has been tried. */
import { expect, test } from 'vitest'
import type { DeliveryEvent } from '../../src/domain/delivery/events.ts'
import type { LogEntry } from '../../src/domain/recorded.ts'
import { deliveryStream } from '../../src/ledger/streams.ts'
import { createHeardDeliveries } from '../../src/webhooks/heard-deliveries.ts'

const at = '2026-03-01T12:00:00.000Z'

function entry(deliveryId: string, revision: number, event: DeliveryEvent): LogEntry {
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
    position: 1n,
    id: 'event',
    metadata,
  }
}

const scheduled = (deliveryId: string): LogEntry =>
  entry(deliveryId, 0, {
    type: 'DeliveryScheduled',
    data: {
      deliveryId,
      tenantId: 'acme',
      channel: 'webhook',
      event: 'license.created',
      licenseId: 'lic_1',
      licenseRevision: 0,
      sequence: 1,
      at,
    },
  })

test('what was put on the schedule is there at the revision at which it is', () => {
  const heard = createHeardDeliveries()
  heard.hear(scheduled('whd_1'))
  expect(heard.find('whd_1')).toMatchObject({
    revision: 0,
    delivery: { deliveryId: 'whd_1', status: 'pending', attempts: [], nextAttemptAt: at },
  })
  expect(heard.find('whd_2')).toBeUndefined()
})

test('what has been tried, by whomever, is looked up from then on', () => {
  const heard = createHeardDeliveries()
  heard.hear(scheduled('whd_1'))
  heard.hear(scheduled('whd_2'))
  heard.hear(entry('whd_1', 1, { type: 'DeliveryAbandoned', data: { reason: 'unwanted', at } }))
  expect(heard.find('whd_1')).toBeUndefined()
  expect(heard.find('whd_2')).toBeDefined()
})

test('of very many the newest are kept', () => {
  const heard = createHeardDeliveries()
  for (let n = 0; n < 6000; n++) heard.hear(scheduled(`whd_${n}`))
  expect(heard.find('whd_999')).toBeUndefined()
  expect(heard.find('whd_1000')).toBeDefined()
  expect(heard.find('whd_5999')).toBeDefined()
})
