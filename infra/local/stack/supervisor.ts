import { setTimeout as sleep } from 'node:timers/promises'
import type { Part, RunningPart } from './parts.ts'

const pollIntervalMs = 250
const maxPauseMs = 10_000

export type Watched = {
  readonly part: Part
  running: RunningPart
}

/**
 * Restarts parts that end unexpectedly, on the same address, until the signal aborts. A failed start is retried
 * after a growing pause.
 *
 * @param decide runs a start while no other process starts or stops parts
 */
export async function supervise(
  watched: Watched[],
  decide: (work: () => Promise<void>) => Promise<void>,
  log: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let pause_ms = pollIntervalMs
  while (await waited(pause_ms, signal)) {
    try {
      for (const entry of watched) await checkPart(entry, decide, log, signal)
      pause_ms = pollIntervalMs
    } catch (error) {
      log((error as Error).message)
      pause_ms = Math.min(pause_ms * 2, maxPauseMs)
    }
  }
}

async function checkPart(
  entry: Watched,
  decide: (work: () => Promise<void>) => Promise<void>,
  log: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  if (entry.running.isRunning()) return entry.running.boundLog()
  log(`The ${entry.part.name} exited unexpectedly; restarting it`)
  await decide(async () => {
    if (signal.aborted) return
    entry.running = await entry.part.start()
    log(`The ${entry.part.name} is running again`)
  })
}

async function waited(duration_ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    // The timer must not keep the process alive.
    await sleep(duration_ms, undefined, { signal, ref: false })
    return true
  } catch {
    return false
  }
}
