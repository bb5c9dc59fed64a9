import { listErasures } from '../../projections/subjects/queries.ts'
import { createBackoff } from '../async/backoff.ts'
import { eraseSubject } from '../commands/erasure.ts'
import type { Services } from '../commands/services.ts'
import { newId } from '../credentials/id.ts'
import type { Reaction } from './reaction.ts'

type Options = {
  /** So long whoever began an erasure is left to end it. */
  graceMs?: number
  /** Told of an erasure that could not be ended; it is tried again later. */
  onTrouble: (trouble: { subject: string; error: unknown }) => void
}

/** Ends the erasures that were begun by somebody who died. */
export function erasureReaction(services: Services, { graceMs = 10_000, onTrouble }: Options): Reaction {
  const backoff = createBackoff(services.now)

  async function round(): Promise<void> {
    const before = new Date(services.now().getTime() - graceMs).toISOString()
    const begun = await listErasures(services.db, before)
    const waiting = new Set(backoff.waiting())
    for (const { tenantId, subjectId } of begun) {
      if (waiting.has(subjectId)) continue
      try {
        await eraseSubject(services, tenantId, subjectId, {
          requestId: newId('req'),
          actor: 'system:reactions',
        })
        backoff.succeeded(subjectId)
      } catch (error) {
        onTrouble({ subject: subjectId, error })
        backoff.failed(subjectId)
      }
    }
    backoff.retainOnly(begun.map(({ subjectId }) => subjectId))
  }

  return { name: 'erasures.resume', everyMs: 1000, round }
}
