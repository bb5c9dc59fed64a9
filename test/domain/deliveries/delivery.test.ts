/**
 * A delivery is attempted at once and then after 1, 5 and 30 minutes, until it succeeds or is abandoned.
 * Every attempt is recorded once, whichever process made it; a redelivery begins a new schedule under the
 * same id.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AttemptResult,
  absentDelivery,
  type DeliveryCommand,
  decideDelivery,
  evolveDelivery,
  keyKeptUntil,
  mayWait,
  nextAttemptAfter,
} from '../../../src/domain/deliveries/delivery.ts'
import type { DeliveryEvent } from '../../../src/domain/deliveries/events.ts'
import { givenOn } from '../given.ts'

const given = givenOn({ initial: absentDelivery, decide: decideDelivery, evolve: evolveDelivery })

const at = '2026-03-01T12:00:00.000Z'
const facts = {
  deliveryId: 'whd_1',
  tenantId: 'acme',
  channel: 'webhook',
  endpointId: 'first',
  event: 'license.revoked',
  licenseId: 'lic_1',
  licenseRevision: 3,
  sequence: 1,
  at,
} as const
const schedule: DeliveryCommand = { type: 'ScheduleDelivery', ...facts }
const scheduled: DeliveryEvent = { type: 'DeliveryScheduled', data: facts }
const refused: AttemptResult = { outcome: 'failed', error: 'status', status: 500, excerpt: 'no' }
const taken: AttemptResult = { outcome: 'delivered', status: 200, excerpt: null }
const record = (attempt: number, result: AttemptResult, when = at): DeliveryCommand => ({
  type: 'RecordAttempt',
  attempt,
  startedAt: when,
  durationMs: 20,
  result,
  at: when,
})
const tried = (attempt: number, nextAttemptAt: string | null, when = at): DeliveryEvent => ({
  type: 'DeliveryAttempted',
  data: { attempt, at: when, durationMs: 20, status: 500, error: 'status', excerpt: 'no', nextAttemptAt },
})
const succeeded = (attempt: number): DeliveryEvent[] => [
  {
    type: 'DeliveryAttempted',
    data: {
      attempt,
      at,
      durationMs: 20,
      status: 200,
      error: null,
      excerpt: null,
      nextAttemptAt: null,
    },
  },
  { type: 'DeliverySucceeded', data: { at } },
]
const minutesLater = (minutes: number) => new Date(Date.parse(at) + minutes * 60_000).toISOString()
const asked: DeliveryEvent = { type: 'RedeliveryAsked', data: { at } }
const abandoned = (reason: 'attempts_spent' | 'unwanted'): DeliveryEvent => ({
  type: 'DeliveryAbandoned',
  data: { reason, at },
})

test('it is scheduled once', () => {
  given().when(schedule).expectEvents([scheduled])
  given(scheduled).when(schedule).expectEvents([])
})

test('an attempt of an unscheduled delivery is refused', () =>
  given().when(record(1, taken)).expectRefusal('delivery_not_found'))

describe('an attempt', () => {
  test('that succeeds ends it', () => given(scheduled).when(record(1, taken)).expectEvents(succeeded(1)))

  test('that fails is followed by the next, and the fourth by none', () => {
    given(scheduled)
      .when(record(1, refused))
      .expectEvents([tried(1, minutesLater(1))])
    const three = [scheduled, ...[1, 2, 3].map((attempt) => tried(attempt, at))]
    given(...three)
      .when(record(4, refused))
      .expectEvents([tried(4, null), abandoned('attempts_spent')])
  })

  test('that is recorded already is not recorded again', () => {
    given(scheduled, tried(1, minutesLater(1)))
      .when(record(1, refused))
      .expectEvents([])
    given(scheduled, ...succeeded(1))
      .when(record(1, refused))
      .expectEvents([])
    given(scheduled, ...succeeded(1))
      .when(record(2, taken))
      .expectEvents([])
  })

  test('without a receiver ends it and is not counted', () =>
    given(scheduled)
      .when(record(1, { outcome: 'unwanted' }))
      .expectEvents([abandoned('unwanted')]))
})

describe('an attempt without a result', () => {
  const cutOff = (attempt: number): DeliveryCommand => ({
    type: 'RecordInterruption',
    attempt,
    startedAt: minutesLater(-1),
    at,
  })
  const interrupted = (
    attempt: number,
    { countsAsFailed = false, nextAttemptAt = at as string | null } = {},
  ): DeliveryEvent => ({
    type: 'DeliveryAttemptInterrupted',
    data: { attempt, at: minutesLater(-1), foundAt: at, countsAsFailed, nextAttemptAt },
  })

  test('is followed by the next at once, and leaves the schedule as it was', () => {
    given(scheduled)
      .when(cutOff(1))
      .expectEvents([interrupted(1)])
    given(scheduled, interrupted(1))
      .when(record(2, refused))
      .expectEvents([tried(2, minutesLater(1))])
    const three = [2, 3, 4].map((attempt) => tried(attempt, at))
    given(scheduled, interrupted(1), ...three, interrupted(5))
      .when(record(6, refused))
      .expectEvents([tried(6, null), abandoned('attempts_spent')])
  })

  test('that was recorded with its result stays as it is, as does the delivery', () => {
    given(scheduled, tried(1, at)).when(cutOff(1)).expectEvents([])
    given(scheduled, ...succeeded(1))
      .when(cutOff(2))
      .expectEvents([])
    given(scheduled, interrupted(1)).when(record(1, taken)).expectEvents([])
  })

  test('counts as failed from the fourth in a row on', () => {
    const three = [scheduled, ...[1, 2, 3].map((attempt) => interrupted(attempt))]
    const fourth = interrupted(4, { countsAsFailed: true, nextAttemptAt: minutesLater(1) })
    given(...three)
      .when(cutOff(4))
      .expectEvents([fourth])
    const more = [5, 6].map((attempt) => interrupted(attempt, { countsAsFailed: true, nextAttemptAt: at }))
    given(...three, fourth, ...more)
      .when(cutOff(7))
      .expectEvents([
        interrupted(7, { countsAsFailed: true, nextAttemptAt: null }),
        abandoned('attempts_spent'),
      ])
    given(...three, tried(4, at))
      .when(cutOff(5))
      .expectEvents([interrupted(5)])
  })

  test('is shown with the time at which it began, and nothing else', () => {
    const delivery = [scheduled, interrupted(1)].reduce(evolveDelivery, absentDelivery)
    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: [
        {
          attempt: 1,
          at: minutesLater(-1),
          durationMs: null,
          status: null,
          error: 'unknown',
          excerpt: null,
          nextAttemptAt: at,
        },
      ],
      nextAttemptAt: at,
    })
  })
})

describe('a redelivery', () => {
  const again: DeliveryCommand = { type: 'AskRedelivery', at }

  test('begins a schedule of four more attempts', () => {
    const four = [scheduled, ...[1, 2, 3].map((attempt) => tried(attempt, at)), tried(4, null)]
    const history = [...four, abandoned('attempts_spent')]
    given(...history)
      .when(again)
      .expectEvents([asked])
    given(...history, asked)
      .when(record(5, refused))
      .expectEvents([tried(5, minutesLater(1))])
    given(...history, asked)
      .when(record(5, taken))
      .expectEvents(succeeded(5))
  })

  test('changes nothing when it is due already, and makes it due when it waits', () => {
    given(scheduled).when(again).expectEvents([])
    given(scheduled, tried(1, minutesLater(1)))
      .when(again)
      .expectEvents([asked])
  })
})

describe('its place among the deliveries of its license', () => {
  const again: DeliveryCommand = { type: 'AskRedelivery', at }
  const second: DeliveryEvent = { type: 'DeliveryScheduled', data: { ...facts, sequence: 2 } }
  const ofMail = { ...facts, channel: 'mail', endpointId: null, sequence: null } as const
  const mail: DeliveryEvent = { type: 'DeliveryScheduled', data: ofMail }
  const replayed: DeliveryEvent = { type: 'ReplayAsked', data: { replayId: 'whr_1', at } }
  const unnumbered: DeliveryEvent = { type: 'DeliveryScheduled', data: { ...facts, sequence: null } }

  test.each<[string, DeliveryEvent[], 'in_turn' | 'asked' | 'none', boolean]>([
    ['in turn while it is pending', [second], 'in_turn', true],
    ['in turn while it is retried', [second, tried(1, minutesLater(1))], 'in_turn', true],
    ['in turn, with none before it, when it is the first', [scheduled], 'in_turn', false],
    ['kept, without waiting, when it is asked for while it is pending', [second, asked], 'asked', false],
    ['none once it was delivered', [second, ...succeeded(1)], 'none', false],
    ['none once it was abandoned', [second, abandoned('attempts_spent')], 'none', false],
    ['none in a redelivery after its end', [second, ...succeeded(1), asked], 'none', false],
    ['none in a replay', [second, abandoned('attempts_spent'), replayed], 'none', false],
    ['none in a replay of what was never scheduled', [unnumbered, replayed], 'none', false],
    ['none of a mail', [mail], 'none', false],
  ])('is %s', (_, history, place, waits) => {
    const delivery = history.reduce(evolveDelivery, absentDelivery)
    if (delivery.status === 'absent') throw new Error('it is there')
    expect([delivery.place, mayWait(delivery)]).toStrictEqual([place, waits])
  })

  test('is given up for now, once, when it is asked for although it is due', () => {
    given(second).when(again).expectEvents([asked])
    given(second, asked).when(again).expectEvents([])
    given(mail).when(again).expectEvents([])
  })
})

describe('the key that a delivery carries is kept', () => {
  const inThirtyDays = '2026-03-31T12:00:00.000Z'
  const four = [1, 2, 3, 4].map((attempt) => tried(attempt, attempt === 4 ? null : at))
  const spent = [...four, abandoned('attempts_spent')]
  const kept = (
    own: { channel: 'webhook' | 'mail'; event: 'license.created' } | object,
    history: DeliveryEvent[],
  ) => {
    const first: DeliveryEvent = { type: 'DeliveryScheduled', data: { ...facts, ...own } }
    const delivery = [first, ...history].reduce(evolveDelivery, absentDelivery)
    if (delivery.status === 'absent') throw new Error('it is there')
    return keyKeptUntil(delivery)
  }
  const created = { channel: 'webhook', event: 'license.created' } as const
  const mail = { channel: 'mail', endpointId: null, event: 'license.created' } as const

  test.each<[string, DeliveryEvent[], string | null, string | null]>([
    ['while it waits', four.slice(0, 1), null, null],
    ['when it succeeded', succeeded(1), null, null],
    ['for 30 days when its tries are spent', spent, inThirtyDays, inThirtyDays],
    ['as long as it waits when it was asked for again', [...spent, asked], null, null],
    ['anew when that fails too', [...spent, asked, abandoned('attempts_spent')], inThirtyDays, inThirtyDays],
    [
      'for 30 days of a webhook that was removed, of an unwanted mail not',
      [abandoned('unwanted')],
      inThirtyDays,
      null,
    ],
  ])('%s', (_, history, ofWebhook, ofMail) => {
    expect([kept(created, history), kept(mail, history)]).toStrictEqual([ofWebhook, ofMail])
    expect(kept({}, history)).toBe(null)
  })
})

test('the pauses are 1, 5 and 30 minutes', () =>
  expect([1, 2, 3, 4].map((tries) => nextAttemptAfter(tries, at))).toStrictEqual([
    minutesLater(1),
    minutesLater(5),
    minutesLater(30),
    null,
  ]))

test('for any events, it is pending exactly while another attempt is scheduled', () => {
  const command = fc.oneof(
    fc.record({ attempt: fc.integer({ min: 1, max: 9 }), result: fc.constantFrom(taken, refused) }),
    fc.record({ cutOff: fc.integer({ min: 1, max: 9 }) }),
    fc.constant('again' as const),
  )
  const commandOf = (
    one: typeof command extends fc.Arbitrary<infer Command> ? Command : never,
  ): DeliveryCommand => {
    if (one === 'again') return { type: 'AskRedelivery', at: minutesLater(99) }
    return 'cutOff' in one
      ? { type: 'RecordInterruption', attempt: one.cutOff, startedAt: at, at }
      : record(one.attempt, one.result)
  }
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      let delivery = evolveDelivery(absentDelivery, scheduled)
      for (const one of commands) {
        const events = decideDelivery(delivery, commandOf(one))
        delivery = events.reduce(evolveDelivery, delivery)
        if (delivery.status === 'absent') throw new Error('it is there')
        expect(delivery.nextAttemptAt !== null).toBe(delivery.status === 'pending')
        expect(delivery.attempts.map(({ attempt }) => attempt)).toStrictEqual(
          delivery.attempts.map((_, index) => index + 1),
        )
      }
    }),
  )
})
