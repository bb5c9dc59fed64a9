import { listUnrecordedExpiries } from '../../projections/licenses/expiries.ts'
import { endPaidPeriod } from '../commands/licenses/paid-period.ts'
import type { Ports } from '../ports.ts'
import type { Process } from './process.ts'
import { originOfProcess, processOf, type Trouble } from './process-manager.ts'

type Options = {
  /** How many one poll takes on: a midnight with a hundred thousand expiries needs no more memory. */
  most?: number
  onTrouble: (trouble: Trouble) => void
}

/** Polled so often, since an expiry that was recorded after the last poll may be nearer than all that were known. */
const pollEveryMs = 500
/**
 * As many are recorded side by side as share look-ups and batches of the projector: half of what the commands of a
 * busy process come to, so that others who change something get the rest of every batch.
 */
const lanes = 32

/**
 * Records the end of every paid period at its second: that the license has expired, or has fallen back. Nobody's
 * answer waits for it. Those of a time when nobody ran are recorded by the first poll.
 */
export function recordExpiries(
  services: Ports<'db' | 'execute' | 'findLicenseById' | 'ledger' | 'now'>,
  { most = 500, onTrouble }: Options,
): Process {
  let nextInMs = pollEveryMs
  return processOf<string>({
    name: 'licenses.expire',
    everyMs: pollEveryMs,
    lanes,
    most,
    async due(wanted) {
      const now = services.now().getTime()
      const until = new Date(now + pollEveryMs).toISOString()
      const ends = await listUnrecordedExpiries(services.db, { until, ...wanted })
      const due = ends.filter(({ expiresAt }) => Date.parse(expiresAt) <= now)
      const next = ends[due.length]
      nextInMs = next ? Date.parse(next.expiresAt) - now : pollEveryMs
      return shuffled(due.map(({ licenseId }) => licenseId))
    },
    idOf: (licenseId) => licenseId,
    advance: (licenseId) => endPaidPeriod(services, licenseId, originOfProcess()),
    nextInMs: () => nextInMs,
    requireStores: () => services.ledger.head(),
    onTrouble,
    now: services.now,
  })
}

/** Several processes begin at different ends; what one of them has recorded costs the others one look-up. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
