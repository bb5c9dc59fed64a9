import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import { firstEndpointId } from '../webhooks/endpoint.ts'
import type { Attempt, AttemptError, Bounce, Channel, DeliveryEvent, DeliveryEventName } from './events.ts'

/** One event on its way to one receiver. */
export type KnownDelivery = {
  status: 'pending' | 'delivered' | 'abandoned'
  deliveryId: string
  tenantId: string
  channel: Channel
  /** The webhook endpoint that it goes to; null for a mail. */
  endpointId: string | null
  event: DeliveryEventName
  licenseId: string
  licenseRevision: number
  sequence: number | null
  scheduledAt: string
  /** Every attempt, the oldest first. */
  attempts: readonly Attempt[]
  /** How many attempts of the schedule are used up, since it was scheduled or a redelivery was requested. */
  attemptsInSchedule: number
  /** null when it has ended. */
  nextAttemptAt: string | null
  endedAt: string | null
  /** Why it was abandoned; null while it is not. */
  abandonedFor: 'attempts_spent' | 'unwanted' | null
  /** Every replay that made it due again, so that none does so twice. */
  replayIds: readonly string[]
  /** What the sender of a mail told of it after it was accepted, the oldest first. */
  bounces: readonly Bounce[]
  place: Place
}

/**
 * A delivery's place among those of its license to its endpoint, which go out in the order of their events:
 *
 * | place     | the delivery                                | waits for those before it | those after it wait |
 * | --------- | ------------------------------------------- | ------------------------- | ------------------- |
 * | `in_turn` | is pending for the first time               | yes                       | yes                 |
 * | `asked`   | the same, and a redelivery was requested    | no                        | yes                 |
 * | `none`    | has ended once, is of a replay, or a mail   | no                        | no                  |
 *
 * Whether the endpoint wants order at all is its own setting.
 */
type Place = 'in_turn' | 'asked' | 'none'

export type Delivery = { status: 'absent' } | KnownDelivery

/** The result of an attempt. `unwanted` ends the delivery at once: there is no longer a receiver. */
export type AttemptResult =
  | { outcome: 'delivered'; status: number | null; excerpt: string | null }
  | { outcome: 'failed'; error: AttemptError; status: number | null; excerpt: string | null }
  | { outcome: 'unwanted' }

export type DeliveryCommand =
  | ({ type: 'ScheduleDelivery' } & Scheduled)
  | {
      type: 'RecordAttempt'
      /** The number of the attempt, so that two processes that both made it record it once. */
      attempt: number
      startedAt: string
      durationMs: number
      result: AttemptResult
      at: string
    }
  /** Records the attempt without a result. */
  | { type: 'RecordInterruption'; attempt: number; startedAt: string; at: string }
  | { type: 'AskRedelivery'; at: string }
  /** Makes a delivery due again for a replay, and schedules one that never was. */
  | { type: 'AskReplay'; replayId: string; scheduled: Scheduled; at: string }
  | ({ type: 'RecordBounce' } & Bounce)

type Scheduled = Extract<DeliveryEvent, { type: 'DeliveryScheduled' }>['data']

export const absentDelivery: Delivery = { status: 'absent' }

const minuteMs = 60_000
/** After the first, second and third failed attempt; there is no attempt after the fourth. */
const pausesMs = [minuteMs, 5 * minuteMs, 30 * minuteMs]

/**
 * When the next attempt is due after an attempt that failed at a moment.
 *
 * | attempt | next one            |
 * | ------- | ------------------- |
 * | 1st     | 1 minute later      |
 * | 2nd     | 5 minutes later     |
 * | 3rd     | 30 minutes later    |
 * | 4th     | never: abandoned    |
 */
export function nextAttemptAfter(tries: number, failedAt: string): string | null {
  const pauseMs = pausesMs[tries - 1]
  return pauseMs === undefined ? null : new Date(Date.parse(failedAt) + pauseMs).toISOString()
}

/** A mail bounces once, or a few times while its sender goes on trying. */
const mostBounces = 20

/**
 * Scheduling a scheduled delivery, and recording a recorded attempt or bounce change nothing.
 * @throws Refusal `delivery_not_found`
 */
export function decideDelivery(delivery: Delivery, command: DeliveryCommand): DeliveryEvent[] {
  if (command.type === 'ScheduleDelivery') {
    const { type: _, ...data } = command
    return delivery.status === 'absent' ? [{ type: 'DeliveryScheduled', data }] : []
  }
  if (command.type === 'AskReplay') return replayed(delivery, command)
  if (delivery.status === 'absent') throw new Refusal('delivery_not_found')
  if (command.type === 'RecordBounce') return bounced(delivery, command)
  if (command.type === 'AskRedelivery') {
    const isDue = delivery.nextAttemptAt !== null && delivery.nextAttemptAt <= command.at
    // One that is due may still wait for those before it.
    return isDue && !mayWait(delivery) ? [] : [{ type: 'RedeliveryAsked', data: { at: command.at } }]
  }
  if (delivery.status !== 'pending' || command.attempt !== delivery.attempts.length + 1) return []
  return command.type === 'RecordAttempt' ? attempted(delivery, command) : interrupted(delivery, command)
}

/** Whether a delivery waits as long as one before it is pending. The first of a license has none before it. */
export const mayWait = ({ place, sequence }: Pick<KnownDelivery, 'place' | 'sequence'>): boolean =>
  place === 'in_turn' && sequence !== 1

/** A delivery that is pending is on its way already. */
function replayed(
  delivery: Delivery,
  { replayId, scheduled, at }: Extract<DeliveryCommand, { type: 'AskReplay' }>,
): DeliveryEvent[] {
  const asked = { type: 'ReplayAsked', data: { replayId, at } } as const
  if (delivery.status === 'absent') return [{ type: 'DeliveryScheduled', data: scheduled }, asked]
  return delivery.status === 'pending' || delivery.replayIds.includes(replayId) ? [] : [asked]
}

/** Only a mail bounces. */
function bounced(
  { channel, bounces }: KnownDelivery,
  { type: _, ...data }: Extract<DeliveryCommand, { type: 'RecordBounce' }>,
): DeliveryEvent[] {
  const isKnown = bounces.some(
    ({ sender, notificationId }) => sender === data.sender && notificationId === data.notificationId,
  )
  return channel !== 'mail' || isKnown || bounces.length >= mostBounces ? [] : [{ type: 'MailBounced', data }]
}

function attempted(
  delivery: KnownDelivery,
  command: Extract<DeliveryCommand, { type: 'RecordAttempt' }>,
): DeliveryEvent[] {
  const { attempt, startedAt, durationMs, result, at } = command
  if (result.outcome === 'unwanted') return [{ type: 'DeliveryAbandoned', data: { reason: 'unwanted', at } }]
  const common = { attempt, at: startedAt, durationMs, status: result.status, excerpt: result.excerpt }
  if (result.outcome === 'delivered') {
    return [
      { type: 'DeliveryAttempted', data: { ...common, error: null, nextAttemptAt: null } },
      { type: 'DeliverySucceeded', data: { at } },
    ]
  }
  const nextAttemptAt = nextAttemptAfter(delivery.attemptsInSchedule + 1, at)
  const { error } = result
  return [
    { type: 'DeliveryAttempted', data: { ...common, error, nextAttemptAt } },
    ...endAfter(nextAttemptAt, at),
  ]
}

/** How many attempts without a result in a row are the fault of our processes, and not of the delivery. */
const mostUnknownInARow = 3

/**
 * An attempt without a result says nothing about the receiver: it is repeated at once, and the receiver still gets all
 * attempts of the schedule. When it happens again and again, the delivery itself may be what ends the process: from the
 * fourth in a row on, each counts as failed.
 */
function interrupted(
  delivery: KnownDelivery,
  { attempt, startedAt, at }: Extract<DeliveryCommand, { type: 'RecordInterruption' }>,
): DeliveryEvent[] {
  const known = delivery.attempts.findLastIndex(({ error }) => error !== 'unknown')
  const countsAsFailed = delivery.attempts.length - 1 - known >= mostUnknownInARow
  const nextAttemptAt = countsAsFailed ? nextAttemptAfter(delivery.attemptsInSchedule + 1, at) : at
  const data = { attempt, at: startedAt, foundAt: at, countsAsFailed, nextAttemptAt }
  return [{ type: 'DeliveryAttemptInterrupted', data }, ...endAfter(nextAttemptAt, at)]
}

/** Without a next attempt, the delivery has ended. */
const endAfter = (nextAttemptAt: string | null, at: string): DeliveryEvent[] =>
  nextAttemptAt === null ? [{ type: 'DeliveryAbandoned', data: { reason: 'attempts_spent', at } }] : []

/** Whether a delivery of this name may contain the key of the license. */
const carriesKey = (event: DeliveryEventName): boolean =>
  event === 'license.created' || event === 'license.key_mail'

const keyKeptMs = 30 * 86_400_000

/**
 * Until when the vault keeps the key of an abandoned delivery, so that it can be redelivered.
 *
 * | the delivery                                  | its key is kept                       |
 * | --------------------------------------------- | ------------------------------------- |
 * | pending                                       | until its next attempt                |
 * | succeeded                                     | no longer                             |
 * | abandoned                                     | for 30 days, or until its redelivery  |
 * | a mail that is unwanted or cannot be sent     | no longer                             |
 * | to an endpoint that was removed for good      | no longer                             |
 *
 * @returns null for a pending delivery, and for one that no longer needs a key
 */
export function keyKeptUntil(delivery: KnownDelivery): string | null {
  const { event, status, endpointId, abandonedFor, endedAt } = delivery
  if (!carriesKey(event) || status !== 'abandoned' || endedAt === null) return null
  // The first endpoint may be configured again. Another one never is, and a mail stays unwanted: the product sends
  // none, or the person was erased.
  if (endpointId !== firstEndpointId && abandonedFor === 'unwanted') return null
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
      replayIds: [],
      bounces: [],
      // A mail has no number, nor has an event of a replay from before the endpoint wanted it.
      place: scheduled.sequence === null ? 'none' : 'in_turn',
    }
  }
  if (delivery.status === 'absent') return delivery
  switch (event.type) {
    case 'DeliveryAttempted': {
      const { nextAttemptAt } = event.data
      const attempts = [...delivery.attempts, event.data]
      return { ...delivery, attempts, attemptsInSchedule: delivery.attemptsInSchedule + 1, nextAttemptAt }
    }
    case 'DeliveryAttemptInterrupted': {
      const { attempt, at, countsAsFailed, nextAttemptAt } = event.data
      const unknown = { status: null, error: 'unknown', excerpt: null, durationMs: null } as const
      return {
        ...delivery,
        attempts: [...delivery.attempts, { attempt, at, ...unknown, nextAttemptAt }],
        attemptsInSchedule: delivery.attemptsInSchedule + (countsAsFailed ? 1 : 0),
        nextAttemptAt,
      }
    }
    case 'DeliverySucceeded':
      return { ...delivery, status: 'delivered', nextAttemptAt: null, endedAt: event.data.at, place: 'none' }
    case 'DeliveryAbandoned':
      return {
        ...delivery,
        status: 'abandoned',
        nextAttemptAt: null,
        endedAt: event.data.at,
        abandonedFor: event.data.reason,
        place: 'none',
      }
    case 'RedeliveryAsked':
      return {
        ...dueAgain(delivery, event.data.at),
        place: delivery.place === 'none' ? 'none' : 'asked',
      }
    case 'ReplayAsked':
      return {
        ...dueAgain(delivery, event.data.at),
        replayIds: [...delivery.replayIds, event.data.replayId],
      }
    case 'MailBounced':
      return { ...delivery, bounces: [...delivery.bounces, event.data] }
  }
}

/** With a full schedule of attempts that begins at a moment. */
const dueAgain = (delivery: KnownDelivery, at: string): KnownDelivery => ({
  ...delivery,
  status: 'pending',
  attemptsInSchedule: 0,
  nextAttemptAt: at,
  endedAt: null,
  abandonedFor: null,
})

/** The rules of delivery streams. */
export const deliveries: Decider<Delivery, DeliveryCommand, 'delivery'> = {
  category: 'delivery',
  initial: absentDelivery,
  decide: decideDelivery,
  evolve: evolveDelivery,
}
