import { randomUUID } from 'node:crypto'
import type { OnParked } from '../../projections/runner/apply.ts'
import { type RebuildOptions, rebuild } from '../../projections/runner/rebuild.ts'
import { noteRebuildEnded, noteRebuildStarted } from '../../projections/runner/rebuilds.ts'
import { ScratchInUse } from '../../projections/runner/replay.ts'
import { recordRebuild } from './audit.ts'
import { momentOf, type Origin, type Services } from './services.ts'

/** Rebuilds of the read models that people start, in this process. Whichever process runs one, all see how far it is. */
export type Rebuilds = {
  /**
   * Records who asks, and goes on beside everything else once nobody else runs one.
   * @returns whether it was started: false while one is running anywhere
   */
  start(tenantId: string, origin: Origin): Promise<boolean>
  /** Cuts a running one off. The live tables stay as they were. */
  stop(): Promise<void>
}

/** The process ends, and its rebuild with it. */
class CutOff extends Error {}

type Told = { onParked: OnParked; onFailure: (error: unknown) => void }

export function createRebuilds(services: Services, { onParked, onFailure }: Told): Rebuilds {
  let running: Promise<void> | undefined
  let stopping = false

  /** @throws what kept it from beginning; what comes later is noted as its end */
  async function run(tenantId: string, origin: Origin, begun: () => void): Promise<void> {
    let recorded = false
    try {
      await runRebuild(services, {
        onParked,
        async onBegun() {
          await recordRebuild(services, tenantId, origin)
          recorded = true
          begun()
        },
        onProgress() {
          if (stopping) throw new CutOff()
        },
      })
    } catch (error) {
      if (!recorded) throw error
      if (!(error instanceof CutOff)) onFailure(error)
    }
  }

  return {
    async start(tenantId, origin) {
      if (running) return false
      const begun = Promise.withResolvers<void>()
      const work = run(tenantId, origin, begun.resolve)
      running = work
        .catch(() => undefined)
        .finally(() => {
          running = undefined
        })
      try {
        await Promise.race([begun.promise, work])
        return true
      } catch (error) {
        if (error instanceof ScratchInUse) return false
        throw error
      }
    },
    async stop() {
      stopping = true
      await running
    },
  }
}

/**
 * Rebuilds the read models, and keeps when it began and how it ended for whoever looks at the system's page.
 * @returns how many events it folded
 * @throws ScratchInUse when another one is running; whatever stopped it, or its hooks
 */
export async function runRebuild(
  services: Services,
  { onParked, onProgress, onBegun }: RebuildOptions,
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
      async onBegun() {
        await noteRebuildStarted(db, id, momentOf(services))
        begun = true
        await onBegun?.()
      },
      onProgress(progress) {
        events = Math.max(events, progress.events)
        onProgress(progress)
      },
    })
  } catch (error) {
    // Everybody is told that it ended, not by what error: that may name what is not theirs.
    const problem = error instanceof CutOff ? 'the server was stopped' : 'it failed'
    // A database that keeps nothing of its end is most likely why it ended.
    if (begun) await end(problem).catch(() => undefined)
    throw error
  }
  await end(null)
  return events
}
