/** Guarantee: a delivery is cached from its log entry until it has been attempted. */
import { expect, test } from 'vitest'
import { createRecentDeliveries } from '../../src/webhooks/recent-deliveries.ts'
import { at, recordedEntry, scheduled } from './log-of-deliveries.ts'

test('a scheduled delivery is found with its revision', () => {
  const recent = createRecentDeliveries()
  recent.onEntry(scheduled('whd_1'))
  expect(recent.find('whd_1')).toMatchObject({
    revision: 0,
    delivery: { deliveryId: 'whd_1', status: 'pending', attempts: [], nextAttemptAt: at },
  })
  expect(recent.find('whd_2')).toBeUndefined()
})

test('a delivery is no longer found after its attempt', () => {
  const recent = createRecentDeliveries()
  recent.onEntry(scheduled('whd_1'))
  recent.onEntry(scheduled('whd_2'))
  recent.onEntry(
    recordedEntry('whd_1', { type: 'DeliveryAbandoned', data: { reason: 'unwanted', at } }, { revision: 1 }),
  )
  expect(recent.find('whd_1')).toBeUndefined()
  expect(recent.find('whd_2')).toBeDefined()
})

test('only the newest 5000 deliveries are kept', () => {
  const recent = createRecentDeliveries()
  for (let n = 0; n < 6000; n++) recent.onEntry(scheduled(`whd_${n}`))
  expect(recent.find('whd_999')).toBeUndefined()
  expect(recent.find('whd_1000')).toBeDefined()
  expect(recent.find('whd_5999')).toBeDefined()
})
