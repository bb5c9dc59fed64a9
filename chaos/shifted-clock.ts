/**
 * Moves the clock of the Node process that imports it first: `Date` is as many milliseconds off as the file says that
 * CHAOS_CLOCK_FILE names. Timers and `performance.now()` go on as they are, as they do when a machine's clock is set.
 */
import { readFileSync } from 'node:fs'

const pollMs = 100
const file = process.env.CHAOS_CLOCK_FILE
const RealDate = Date
let shiftMs = 0

const shiftedNow = (): number => RealDate.now() + shiftMs

function readShift(path: string): void {
  try {
    const wantedMs = Number(readFileSync(path, 'utf8'))
    if (Number.isFinite(wantedMs)) shiftMs = wantedMs
  } catch {
    // Not there yet: the clock is right.
  }
}

if (file !== undefined) {
  readShift(file)
  setInterval(() => readShift(file), pollMs).unref()
  globalThis.Date = new Proxy(RealDate, {
    get: (target, name) => (name === 'now' ? shiftedNow : (Reflect.get(target, name) as unknown)),
    construct: (target, given: unknown[], made) =>
      Reflect.construct(target, given.length === 0 ? [shiftedNow()] : given, made) as Date,
    apply: () => new RealDate(shiftedNow()).toString(),
  })
}
