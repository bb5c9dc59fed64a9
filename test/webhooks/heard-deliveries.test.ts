/** A delivery is known by what was heard of it, until it has been tried. */
import { expect, test } from 'vitest'
import { createHeardDeliveries } from '../../src/webhooks/heard-deliveries.ts'
import { at, scheduled, told } from './log-of-deliveries.ts'

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
  heard.hear(told('whd_1', { type: 'DeliveryAbandoned', data: { reason: 'unwanted', at } }, { revision: 1 }))
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
