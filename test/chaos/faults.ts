import { setTimeout as sleep } from 'node:timers/promises'
import { endBackends } from './backends.ts'
import { flood } from './hostile.ts'
import type { Fault } from './schedule.ts'
import type { Stage } from './stage.ts'

/** Injects planned faults into a stage. */
export type Injector = {
  /** Resolves when the fault has ended. */
  inject(fault: Fault): Promise<void>
  /** Ends all running faults, and resolves when they have ended. */
  heal(): Promise<void>
}

export function createInjector(stage: Stage): Injector {
  let healing = new AbortController()
  /** A queue per part, link, disk and clock: faults on the same one run one after another. */
  const turns = new Map<string, Promise<void>>()

  async function happen(fault: Fault, signal: AbortSignal): Promise<void> {
    const lasting = () => sleep(fault.lastsMs, undefined, { signal }).catch(() => undefined)
    switch (fault.kind) {
      case 'kill':
        return stage.parts[fault.on].kill(signal.aborted ? 0 : fault.lastsMs)
      case 'restart':
        return stage.parts[fault.on].restart()
      case 'freeze':
        stage.parts[fault.on].freeze()
        await lasting()
        return stage.parts[fault.on].resume()
      case 'cut':
        return stage.links[fault.on].cut()
      case 'reset':
        return stage.links[fault.on].reset()
      case 'end backends':
      case 'flood': {
        const over = AbortSignal.any([signal, AbortSignal.timeout(fault.lastsMs)])
        return fault.kind === 'flood'
          ? flood(`http://127.0.0.1:${stage.links[fault.on].port}`, over)
          : endBackends(stage.databaseUrl, over)
      }
      case 'silence':
      case 'deafen': {
        const link = stage.links[fault.on]
        link.mode = fault.kind === 'silence' ? 'mute' : 'deaf'
        await lasting()
        link.mode = 'pass'
        // Dropped data does not arrive later, so the connection is closed for those who wait for it.
        return link.cut()
      }
      case 'delay':
        stage.links[fault.on].delayMs = fault.delayMs
        await lasting()
        stage.links[fault.on].delayMs = 0
        return
      case 'fill disk':
        stage.disks?.[fault.on].fill()
        await lasting()
        return stage.disks?.[fault.on].heal()
      case 'move clock':
        stage.setClock(fault.on, fault.shiftMs)
        await lasting()
        return stage.setClock(fault.on, 0)
    }
  }

  return {
    inject(fault) {
      const thing = fault.kind === 'fill disk' ? `disk ${fault.on}` : fault.on
      const { signal } = healing
      const before = turns.get(thing) ?? Promise.resolve()
      const turn = before.then(() => happen(fault, signal))
      turns.set(
        thing,
        turn.catch(() => undefined),
      )
      return turn
    },
    async heal() {
      healing.abort()
      await Promise.all(turns.values())
      healing = new AbortController()
    },
  }
}
