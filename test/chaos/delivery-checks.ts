import { z } from 'zod'
import type { Arrival } from './arrivals.ts'
import { isAttempt, type Violation } from './log-checks.ts'
import { type LogLine, seller } from './operator-commands.ts'

const Payload = z.looseObject({
  id: z.string(),
  event: z.string(),
  license_id: z.string(),
  sequence: z.int(),
})

/**
 * Checks that the permanent webhook has received everything: the events of each license in order, each under one id
 * and one number, once or more often.
 */
export function checkDelivered(arrivals: readonly Arrival[], log: readonly LogLine[]): Violation[] {
  const faults: Violation[] = []
  const own = arrivals.filter(({ path }) => path === `/${seller}`)
  for (const { verified, payload } of own) {
    if (verified !== true) {
      faults.push({ what: 'a delivery', expected: 'a right signature', found: JSON.stringify(payload) })
    }
  }
  const come = Map.groupBy(
    own.flatMap(({ payload }) => Payload.safeParse(payload).data ?? []),
    ({ license_id }) => `license-${license_id}`,
  )
  for (const [stream, lines] of Map.groupBy(log, (line) => line.stream)) {
    const isExpected = lines[0]?.data.tenantId === seller && stream.startsWith('license-')
    const pending = isExpected ? lines.flatMap(({ publicName }) => publicName ?? []) : []
    const bySequence = [...Map.groupBy(come.get(stream) ?? [], ({ sequence }) => sequence)]
    const got = bySequence
      .sort(([one], [other]) => one - other)
      .map(([sequence, times]) => {
        const names = new Set(times.map(({ event }) => event))
        const ids = new Set(times.map(({ id }) => id))
        return `${sequence} ${[...names].join('|')}${ids.size === 1 ? '' : ` under ${ids.size} ids`}`
      })
    const expected = pending.map((name, index) => `${index + 1} ${name}`).join(', ')
    if (expected !== got.join(', ')) {
      faults.push({ what: stream, expected: `delivered: ${expected}`, found: got.join(', ') })
    }
    come.delete(stream)
  }
  for (const stream of come.keys()) {
    faults.push({ what: stream, expected: 'deliveries of what is recorded', found: 'one of nothing' })
  }
  return faults
}

/**
 * Checks that every request at the receiver is an attempt in the log of its delivery, also when the process that made it
 * was killed. An attempt without a request is no fault: its process may have ended before it sent anything.
 */
export function checkAttempts(arrivals: readonly Arrival[], log: readonly LogLine[]): Violation[] {
  const attempts = Map.groupBy(
    log.filter(({ type }) => isAttempt(type)),
    ({ stream }) => stream,
  )
  const requests = Map.groupBy(
    arrivals.flatMap(({ payload }) => Payload.safeParse(payload).data ?? []),
    // The first endpoint is the only one, so the id of an event is that of its delivery.
    ({ id }) => `delivery-${id}`,
  )
  return [...requests].flatMap(([stream, { length: made }]) => {
    const recorded = attempts.get(stream)?.length ?? 0
    const found = `${recorded} for ${made} requests`
    return recorded >= made ? [] : [{ what: stream, expected: 'an attempt for every request', found }]
  })
}

/**
 * Checks that the events of each license came first in the order of their numbers. One that was abandoned let go of those
 * after it, so it may have come later, or never; one whose redelivery was asked for before its first attempt went at once.
 */
export function checkOrder(arrivals: readonly Arrival[], log: readonly LogLine[]): Violation[] {
  const outOfTurn = new Set(
    [...Map.groupBy(log, ({ stream }) => stream)].flatMap(([stream, lines]) => {
      const types = lines.map(({ type }) => type)
      const first = types.findIndex((type) => type === 'RedeliveryAsked' || isAttempt(type))
      return types.includes('DeliveryAbandoned') || types[first] === 'RedeliveryAsked' ? [stream] : []
    }),
  )
  const come = arrivals
    .filter(({ path }) => path === `/${seller}`)
    .flatMap(({ payload }) => Payload.safeParse(payload).data ?? [])
    // The first endpoint is the only one, so the id of an event is that of its delivery.
    .filter(({ id }) => !outOfTurn.has(`delivery-${id}`))
  return [...Map.groupBy(come, ({ license_id }) => `license-${license_id}`)].flatMap(([stream, times]) => {
    const first = [...new Set(times.map(({ sequence }) => sequence))]
    const isInOrder = first.every((sequence, index) => index === 0 || sequence > (first[index - 1] ?? 0))
    return isInOrder ? [] : [{ what: stream, expected: 'events in their order', found: first.join(', ') }]
  })
}

/** A removed webhook and the time of its removal. */
export type Removed = { path: string; at: number }

/**
 * An attempt that had begun before its webhook was removed may still arrive, because its process may have been
 * frozen.
 * @param graceMs how long that may take
 */
export function checkEnded(
  arrivals: readonly Arrival[],
  removed: readonly Removed[],
  graceMs: number,
): Violation[] {
  return removed.flatMap(({ path, at }) =>
    arrivals
      .filter((arrival) => arrival.path === path && arrival.at > at + graceMs)
      .map((arrival) => ({
        what: path,
        expected: 'nothing after the webhook was removed',
        found: `a delivery ${arrival.at - at} ms later`,
      })),
  )
}
