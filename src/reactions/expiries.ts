import { listOpenEnds } from '../../projections/licenses/open-ends.ts'
import { createBackoff } from '../async/backoff.ts'
import { endPaidPeriod } from '../commands/paid-period.ts'
import type { Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import type { Reaction } from './reaction.ts'

/** Told of a license whose end could not be recorded; it is tried again later. */
type OnTrouble = (trouble: { license: string; error: unknown }) => void

/** So often the nearest end is asked for: one that was recorded since may be nearer than all that were known. */
const glanceMs = 500
/**
 * As many as are recorded at the same time, sharing look-ups and turns of the projector: half of what the commands of a
 * busy process come to, so that others who change something get the rest of every turn.
 */
const lanes = 32
/** So many that fail each for itself are no accident any more: then nothing is recorded until somebody looks. */
const mostBackedOff = 1000

/**
 * Records the end of every paid period at its second: that the license has expired, or has fallen back. Nobody's
 * answer waits for it. Ends that came while nobody ran are recorded by the first round.
 * @param mostAtOnce as many as one round takes on: a midnight with a hundred thousand ends needs no more memory
 */
export function expiryReaction(services: Services, onTrouble: OnTrouble, mostAtOnce = 500): Reaction {
  const backoff = createBackoff(services.now)
  let dueInMs = 0

  async function round(): Promise<void> {
    const now = services.now().getTime()
    if (backoff.size >= mostBackedOff) throw new Error(`${backoff.size} license expiries cannot be recorded`)
    const ends = await listOpenEnds(services.db, {
      until: new Date(now + glanceMs).toISOString(),
      except: backoff.waiting(),
      most: mostAtOnce,
    })
    const due = ends.filter(({ expiresAt }) => Date.parse(expiresAt) <= now).map(({ licenseId }) => licenseId)
    const next = ends[due.length]
    dueInMs = due.length === mostAtOnce ? 0 : next ? Date.parse(next.expiresAt) - now : glanceMs
    await recordAll(shuffled(due))
    backoff.retainOnly(due)
  }

  async function recordAll(ids: readonly string[]): Promise<void> {
    const left = ids.values()
    const outage = new AbortController()
    const lane = async () => {
      for (const id of left) {
        if (outage.signal.aborted) return
        await recordOne(id).catch((error: unknown) => outage.abort(error))
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    outage.signal.throwIfAborted()
  }

  /** @throws what is no license's own fault: the stores do not answer */
  async function recordOne(id: string): Promise<void> {
    try {
      await endPaidPeriod(services, id, { requestId: newId('req'), actor: 'system:reactions' })
      backoff.succeeded(id)
    } catch (error) {
      await services.ledger.head()
      onTrouble({ license: id, error })
      backoff.failed(id)
    }
  }

  return { name: 'licenses.expire', everyMs: glanceMs, round, dueInMs: () => dueInMs }
}

/** Several processes begin at different ends; what one of them has recorded costs the others one look-up. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
