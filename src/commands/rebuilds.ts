import { randomUUID } from 'node:crypto'
import { type RebuildOptions, rebuild } from '../../projections/runner/rebuild.ts'
import { noteRebuildEnded, noteRebuildStarted } from '../../projections/runner/rebuilds.ts'
import type { Ports } from '../ports.ts'
import { momentOf } from './origin.ts'

/**
 * Rebuilds the read models, and keeps when it began and how it ended for whoever looks at the system's page.
 * @returns how many events it folded
 * @throws ScratchInUse when another one is running; whatever stopped it, or its hooks
 */
export async function runRebuild(
  services: Ports<'db' | 'ledger' | 'now'>,
  { onParked, onProgress }: Omit<RebuildOptions, 'onBegun'>,
): Promise<number> {
  const { db, ledger } = services
  const id = randomUUID()
  let begun = false
  let events = 0
  const end = (problem: string | null) =>
    noteRebuildEnded(db, id, { at: momentOf(services), events, problem })
  try {
    await rebuild(db, ledger, {
      onParked,
      async onStarted() {
        await noteRebuildStarted(db, id, momentOf(services))
        begun = true
      },
      onProgress(progress) {
        events = Math.max(events, progress.events)
        onProgress(progress)
      },
    })
  } catch (error) {
    // Everybody is told that it ended, not by what error: that may name what is not theirs.
    // A database that keeps nothing of its end is most likely why it ended.
    if (begun) await end('it failed').catch(() => undefined)
    throw error
  }
  await end(null)
  return events
}
