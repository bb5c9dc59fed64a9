import { hash } from 'node:crypto'
import { createDelayed } from '../async/delayed.ts'

/**
 * What devices in a seat say of their machines when they validate, to be recorded shortly afterwards, so that a validate
 * waits for no write. What a killed process has not recorded, the device says again.
 */
export type MachineReports = {
  /**
   * @param instanceId the device
   * @param said what it says; the same is recorded once
   * @param record records it
   */
  note(instanceId: string, said: object, record: () => Promise<void>): void
  /** Records all that was noted. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Devices that this process remembers, so that one that says the same again costs nothing. */
const maxRemembered = 20_000
/** Beyond these, a device is recorded when it says it again. */
const maxPending = 2000

/** @param onFailure gets the error of what could not be recorded; it is when the device says it again */
export function createMachineReports(onFailure: (error: unknown) => void, delayMs = 1000): MachineReports {
  const pending = new Map<string, () => Promise<void>>()
  /** The digest of what each device said last; those that spoke longest ago are forgotten first. */
  const remembered = new Map<string, string>()

  async function work(): Promise<void> {
    for (const [instanceId, record] of pending) {
      pending.delete(instanceId)
      await record().catch((error: unknown) => {
        remembered.delete(instanceId)
        onFailure(error)
      })
    }
  }

  const recording = createDelayed(delayMs, work)

  return {
    note(instanceId, said, record) {
      const digest = hash('sha256', JSON.stringify(said), 'base64')
      const isKnown = remembered.get(instanceId) === digest
      if (!isKnown && pending.size >= maxPending) return
      remembered.delete(instanceId)
      remembered.set(instanceId, digest)
      const [oldest] = remembered.keys()
      if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest)
      if (isKnown) return
      pending.set(instanceId, record)
      recording.ask()
    },
    flush: recording.now,
    async stop() {
      recording.cancel()
      await recording.now()
    },
  }
}
