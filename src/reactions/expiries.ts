import { listUnrecordedExpiries, type UnrecordedEnd } from '../../projections/licenses/expiries.ts'
import { endPaidPeriod } from '../commands/licenses/ends.ts'
import type { Ports } from '../ports.ts'
import { type Poller, quietPollMs } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

type Options = {
  /**
   * How many expiries one poll records, so that a midnight with a hundred thousand of them needs no more
   * memory.
   */
  most?: number
  onFailure: (failure: Failure) => void
}

/**
 * Polled this often, since an expiry that was added after the last poll may be sooner than all known ones.
 */
const pollEveryMs = 500
/**
 * This many are recorded concurrently, to share look-ups and projector batches. It is half of what the
 * commands of a busy process amount to, so that others get the rest of every batch.
 */
const lanes = 32

/**
 * Records the end of every paid period at its second: that the license has expired, or fell back. Validates
 * do not depend on it. Expiries from a time without a running process are recorded by the first poll.
 */
export function recordExpiries(
  ports: Ports<'db' | 'execute' | 'findLicenseById' | 'findProduct' | 'ledger' | 'now'>,
  { most = 500, onFailure }: Options,
): Poller {
  let nextInMs: number | undefined
  return processOf<UnrecordedEnd>(ports, onFailure, {
    name: 'licenses.expire',
    everyMs: pollEveryMs,
    lanes,
    most,
    stopAtFailing: 1000,
    async due(wanted) {
      const now = ports.now().getTime()
      const until = new Date(now + quietPollMs).toISOString()
      const ends = await listUnrecordedExpiries(ports.db, { until, ...wanted })
      const due = ends.filter(({ endsAt }) => Date.parse(endsAt) <= now)
      const next = ends[due.length]
      nextInMs = next && Date.parse(next.endsAt) - now
      return shuffled(due)
    },
    idOf: ({ licenseId }) => licenseId,
    advance: (end) => endPaidPeriod(ports, end, originOfProcess()),
    nextInMs: () => nextInMs,
  })
}

/**
 * Concurrent processes begin with different items; an item that another process has recorded costs one
 * look-up.
 */
export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
