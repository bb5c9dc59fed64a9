import { z } from 'zod'
import type { Arrival } from './arrivals.ts'
import type { Violation } from './log-checks.ts'
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
