/**
 * Guarantee: what a sender tells of a mail is recorded once, however often it is told, and changes nothing else.
 */
import { expect, test } from 'vitest'
import { absentDelivery, decideDelivery, evolveDelivery } from '../../../src/domain/deliveries/delivery.ts'
import type { DeliveryEvent } from '../../../src/domain/deliveries/events.ts'
import { Refusal } from '../../../src/domain/refusal.ts'

const at = '2026-03-01T12:00:00.000Z'
const bounce = {
  kind: 'permanent',
  sender: 'postmark',
  notificationId: '42',
  status: '5.1.1',
  at,
} as const

const scheduled = (channel: 'mail' | 'webhook'): DeliveryEvent => ({
  type: 'DeliveryScheduled',
  data: {
    deliveryId: 'whd_1',
    tenantId: 'acme',
    channel,
    endpointId: channel === 'mail' ? null : 'first',
    event: 'license.created',
    licenseId: 'lic_1',
    licenseRevision: 0,
    sequence: channel === 'mail' ? null : 1,
    at,
  },
})

const sent: DeliveryEvent[] = [
  scheduled('mail'),
  {
    type: 'DeliveryAttempted',
    data: { attempt: 1, at, durationMs: 1, status: 250, error: null, excerpt: null, nextAttemptAt: null },
  },
  { type: 'DeliverySucceeded', data: { at } },
]

const after = (events: readonly DeliveryEvent[]) => events.reduce(evolveDelivery, absentDelivery)

test('a bounce is recorded, and the mail stays delivered', () => {
  const events = decideDelivery(after(sent), { type: 'RecordBounce', ...bounce })
  expect(events).toStrictEqual([{ type: 'MailBounced', data: bounce }])
  expect(after([...sent, ...events])).toStrictEqual({ ...after(sent), bounces: [bounce] })
})

test('a repeated notification changes nothing; another one, or the same id of another sender, does', () => {
  const bounced = after([...sent, { type: 'MailBounced', data: bounce }])
  const later = { ...bounce, at: '2026-03-02T12:00:00.000Z' }
  expect(decideDelivery(bounced, { type: 'RecordBounce', ...later })).toStrictEqual([])
  for (const other of [
    { ...bounce, notificationId: '43' },
    { ...bounce, sender: 'resend' as const },
  ]) {
    expect(decideDelivery(bounced, { type: 'RecordBounce', ...other })).toStrictEqual([
      { type: 'MailBounced', data: other },
    ])
  }
})

test('a mail records no more than 20 bounces', () => {
  const many = Array.from({ length: 20 }, (_, index): DeliveryEvent => {
    return { type: 'MailBounced', data: { ...bounce, notificationId: String(index) } }
  })
  const command = { type: 'RecordBounce', ...bounce, notificationId: 'one more' } as const
  expect(decideDelivery(after([...sent, ...many.slice(1)]), command)).toHaveLength(1)
  expect(decideDelivery(after([...sent, ...many]), command)).toStrictEqual([])
})

test('a webhook does not bounce, and an unknown delivery is refused', () => {
  expect(decideDelivery(after([scheduled('webhook')]), { type: 'RecordBounce', ...bounce })).toStrictEqual([])
  expect(() => decideDelivery(absentDelivery, { type: 'RecordBounce', ...bounce })).toThrow(
    new Refusal('delivery_not_found'),
  )
})
