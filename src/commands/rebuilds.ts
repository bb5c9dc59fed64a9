import { randomUUID } from 'node:crypto'
import type { OnParked } from '../../projections/runner/apply.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
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
  const { db, ledger } = services
  let running: Promise<void> | undefined
  let stopping = false

  /** @throws what kept it from beginning; what comes later is noted as its end */
  async function run(begin: (id: string) => Promise<void>): Promise<void> {
    const id = randomUUID()
    let begun = false
    let events = 0
    const end = (problem: string | null) =>
      noteRebuildEnded(db, id, { at: momentOf(services), events, problem })
    try {
      await rebuild(db, ledger, {
        onParked,
        async onBegun() {
          await begin(id)
          begun = true
        },
        onProgress(progress) {
          if (stopping) throw new CutOff()
          events = Math.max(events, progress.events)
        },
      })
      await end(null)
    } catch (error) {
      if (!begun) throw error
      if (!(error instanceof CutOff)) onFailure(error)
      // Everybody is told that it ended; why stands in the log of the server, since it may name what is not theirs.
      await end(error instanceof CutOff ? 'the server was stopped' : 'it failed').catch(onFailure)
    }
  }

  return {
    async start(tenantId, origin) {
      if (running) return false
      const begun = Promise.withResolvers<void>()
      const work = run(async (id) => {
        await recordRebuild(services, tenantId, origin)
        await noteRebuildStarted(db, id, momentOf(services))
        begun.resolve()
      })
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
