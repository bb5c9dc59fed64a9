import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { WebhookEventName } from '../webhooks/events.ts'
import type { Attempt, AttemptError, Channel, DeliveryEvent } from './events.ts'

/** One event on its way to one receiver. */
export type KnownDelivery = {
  status: 'pending' | 'delivered' | 'abandoned'
  deliveryId: string
  tenantId: string
  channel: Channel
  event: WebhookEventName
  licenseId: string
  licenseRevision: number
  sequence: number | null
  scheduledAt: string
  /** Every try, the oldest first. */
  attempts: readonly Attempt[]
  /** How many of them were made since it was scheduled, or asked for again. */
  attemptsInSchedule: number
  /** null when it has ended. */
  nextAttemptAt: string | null
  endedAt: string | null
  /** Why it was given up; null while it has not been. */
  abandonedFor: 'attempts_spent' | 'unwanted' | null
}

export type Delivery = { status: 'absent' } | KnownDelivery

/** What came of a try. `unwanted` ends the delivery at once: there is nowhere to deliver to any more. */
export type AttemptResult =
  | { outcome: 'delivered'; status: number | null; excerpt: string | null }
  | { outcome: 'failed'; error: AttemptError; status: number | null; excerpt: string | null }
  | { outcome: 'unwanted' }

export type DeliveryCommand =
  | ({ type: 'ScheduleDelivery' } & Scheduled)
  | {
      type: 'RecordAttempt'
      /** Which one, so that two processes that made the same one record it once. */
      attempt: number
      startedAt: string
      durationMs: number
      result: AttemptResult
      at: string
    }
  | { type: 'AskRedelivery'; at: string }

type Scheduled = Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data']

export const absentDelivery: Delivery = { status: 'absent' }

const minuteMs = 60_000
/** After the first, the second and the third try that failed; after the fourth there is none. */
const pausesMs = [minuteMs, 5 * minuteMs, 30 * minuteMs]

/**
 * When a delivery is tried again whose try failed at a moment.
 *
 * | try | next one            |
 * | --- | ------------------- |
 * | 1st | 1 minute later      |
 * | 2nd | 5 minutes later     |
 * | 3rd | 30 minutes later    |
 * | 4th | never: given up     |
 */
export function nextAttemptAfter(tries: number, failedAt: string): string | null {
  const pauseMs = pausesMs[tries - 1]
  return pauseMs === undefined ? null : new Date(Date.parse(failedAt) + pauseMs).toISOString()
}

/**
 * Scheduling what is scheduled, and recording a try that is recorded, change nothing.
 * @throws Refusal `delivery_not_found`
 */
export function decideDelivery(delivery: Delivery, command: DeliveryCommand): DeliveryEvent[] {
  if (command.type === 'ScheduleDelivery') {
    const { type: _, ...data } = command
    return delivery.status === 'absent' ? [{ type: 'DeliveryScheduled', data }] : []
  }
  if (delivery.status === 'absent') throw new Refusal('delivery_not_found')
  if (command.type === 'AskRedelivery') {
    const isDue = delivery.nextAttemptAt !== null && delivery.nextAttemptAt <= command.at
    return isDue ? [] : [{ type: 'RedeliveryAsked', data: { at: command.at } }]
  }
  if (delivery.status !== 'pending' || command.attempt !== delivery.attempts.length + 1) return []
  return attempted(delivery, command)
}

function attempted(
  delivery: KnownDelivery,
  command: Extract<DeliveryCommand, { type: 'RecordAttempt' }>,
): DeliveryEvent[] {
  const { attempt, startedAt, durationMs, result, at } = command
  if (result.outcome === 'unwanted') return [{ type: 'DeliveryAbandoned', data: { reason: 'unwanted', at } }]
  const made = { attempt, at: startedAt, durationMs, status: result.status, excerpt: result.excerpt }
  if (result.outcome === 'delivered') {
    return [
      { type: 'DeliveryAttempted', data: { ...made, error: null, nextAttemptAt: null } },
      { type: 'DeliverySucceeded', data: { at } },
    ]
  }
  const nextAttemptAt = nextAttemptAfter(delivery.attemptsInSchedule + 1, at)
  const { error } = result
  return [
    { type: 'DeliveryAttempted', data: { ...made, error, nextAttemptAt } },
    ...(nextAttemptAt === null
      ? [{ type: 'DeliveryAbandoned', data: { reason: 'attempts_spent', at } } as const]
      : []),
  ]
}

const keyKeptMs = 30 * 86_400_000

/**
 * Until when the key that a delivery carries is kept after it was given up, so that it can be asked for again.
 *
 * | the delivery                             | its key is kept                    |
 * | ---------------------------------------- | ---------------------------------- |
 * | waits for a try                          | until that has been made           |
 * | succeeded                                | no longer                          |
 * | was given up                             | for 30 days, or until asked for    |
 * | a mail that nobody wants, or can be sent | no longer                          |
 *
 * @returns null for one that waits, or needs no key any more
 */
export function keyKeptUntil(delivery: KnownDelivery): string | null {
  const { event, status, channel, abandonedFor, endedAt } = delivery
  if (event !== 'license.created' || status !== 'abandoned' || endedAt === null) return null
  // A webhook that was removed may be set again. A product without mails, and a person who was erased, want none.
  if (channel === 'mail' && abandonedFor === 'unwanted') return null
  return new Date(Date.parse(endedAt) + keyKeptMs).toISOString()
}

/** Never refuses: what is recorded has happened. */
export function evolveDelivery(delivery: Delivery, event: DeliveryEvent): Delivery {
  if (event.type === 'DeliveryScheduled') {
    const { at, ...scheduled } = event.data
    return {
      ...scheduled,
      status: 'pending',
      scheduledAt: at,
      attempts: [],
      attemptsInSchedule: 0,
      nextAttemptAt: at,
      endedAt: null,
      abandonedFor: null,
    }
  }
  if (delivery.status === 'absent') return delivery
  switch (event.type) {
    case 'DeliveryAttempted': {
      const { nextAttemptAt } = event.data
      const attempts = [...delivery.attempts, event.data]
      return { ...delivery, attempts, attemptsInSchedule: delivery.attemptsInSchedule + 1, nextAttemptAt }
    }
    case 'DeliverySucceeded':
      return { ...delivery, status: 'delivered', nextAttemptAt: null, endedAt: event.data.at }
    case 'DeliveryAbandoned':
      return {
        ...delivery,
        status: 'abandoned',
        nextAttemptAt: null,
        endedAt: event.data.at,
        abandonedFor: event.data.reason,
      }
    case 'RedeliveryAsked':
      return {
        ...delivery,
        status: 'pending',
        attemptsInSchedule: 0,
        nextAttemptAt: event.data.at,
        endedAt: null,
        abandonedFor: null,
      }
  }
}

/** The rules of delivery streams. */
export const deliveries: Decider<Delivery, DeliveryCommand, 'delivery'> = {
  category: 'delivery',
  initial: absentDelivery,
  decide: decideDelivery,
  evolve: evolveDelivery,
}
