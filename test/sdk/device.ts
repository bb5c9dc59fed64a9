import { setImmediate as turn } from 'node:timers/promises'
import type { Clock, Fetch } from '../../src/sdk/javascript/app/index.ts'

type Timer = { at: number; run: () => void }

/** A device with a clock of its own, which can be behind, and whose time passes only when nothing else is to do. */
export type Device = {
  clock: Clock
  fetch: Fetch
  /** How far its clock is ahead of the true time, in milliseconds. */
  skewMs: number
  /** The latest time that its clock has shown since this was set, in Unix seconds. */
  latest: number
  /** Called with each answer that has arrived in time and as a whole. */
  onArrived: (path: string, text: string) => void
  /** Waits by the true time. */
  wait(ms: number): Promise<void>
  /** Lets time pass until the promise is settled. */
  settle<T>(promise: Promise<T>): Promise<T>
}

/**
 * @param time the true time, which the server has too
 * @param held the numbers of the requests whose answers are held back until time passes
 */
export function createDevice(
  time: { now(): Date; advance(ms: number): void },
  held: () => ReadonlySet<string>,
): Device {
  const timers = new Set<Timer>()
  const underWay = new Set<string>()
  let numbers = 0
  const trueTime = () => time.now().getTime()
  const after = (ms: number, run: () => void) => {
    const timer = { at: trueTime() + ms, run }
    timers.add(timer)
    return () => void timers.delete(timer)
  }

  /** Moves the time to the next timer. */
  function pass(): void {
    const [next] = [...timers].toSorted((one, other) => one.at - other.at)
    if (!next) throw new Error('nothing is under way, and no timer is left')
    time.advance(Math.max(0, next.at - trueTime()))
    timers.delete(next)
    next.run()
  }

  const device: Device = {
    skewMs: 0,
    latest: 0,
    onArrived: () => undefined,
    clock: {
      now: () => {
        const now = trueTime() + device.skewMs
        device.latest = Math.max(device.latest, Math.floor(now / 1000))
        return now
      },
      after,
    },
    async fetch(url, init) {
      const number = String(++numbers)
      underWay.add(number)
      try {
        const headers = { ...init.headers, 'x-number': number }
        const response = await globalThis.fetch(url, { ...init, headers })
        const text = await response.text()
        if (!init.signal.aborted) device.onArrived(new URL(url).pathname, text)
        return { status: response.status, headers: response.headers, text: async () => text }
      } finally {
        underWay.delete(number)
      }
    },
    wait: (ms) => new Promise((resolve) => void after(ms, resolve)),
    async settle(promise) {
      let settled = false
      const done = promise.finally(() => {
        settled = true
      })
      done.catch(() => undefined)
      while (!settled) {
        // A few turns, so that what was answered is worked on before time passes.
        for (let turns = 0; turns < 5 && !settled; turns++) await turn()
        const isBusy = [...underWay].some((number) => !held().has(number))
        if (!settled && !isBusy && timers.size > 0) pass()
      }
      return done
    },
  }
  return device
}
