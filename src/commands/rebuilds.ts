import { randomUUID } from 'node:crypto'
import {
  noteRebuildEnded,
  noteRebuildStarted,
  type RebuildOptions,
  rebuild,
} from '../../projections/runner/rebuild.ts'
import type { Ports } from '../ports.ts'
import { momentOf } from './origin.ts'

/**
 * Rebuilds the read models, and records the beginning and the end for the dashboard's system page.
 * @returns how many events it applied
 * @throws ScratchInUse when another one is running; any error of the rebuild or its hooks
 */
export async function runRebuild(
  ports: Ports<'db' | 'ledger' | 'now'>,
  { onParked, onProgress }: Omit<RebuildOptions, 'onBegun'>,
): Promise<number> {
  const { db, ledger } = ports
  const id = randomUUID()
  let isStarted = false
  let events = 0
  const end = (problem: string | null) => noteRebuildEnded(db, id, { at: momentOf(ports), events, problem })
  try {
    await rebuild(db, ledger, {
      onParked,
      async onStarted() {
        await noteRebuildStarted(db, id, momentOf(ports))
        isStarted = true
      },
      onProgress(progress) {
        events = Math.max(events, progress.events)
        onProgress(progress)
      },
    })
  } catch (error) {
    // Everyone sees that it ended, but not the error, which may contain data of one tenant. If this write
    // fails too, the database is most likely why the rebuild ended.
    if (isStarted) await end('it failed').catch(() => undefined)
    throw error
  }
  await end(null)
  return events
}
