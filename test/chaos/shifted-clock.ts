/**
 * Moves the clock of the Node process that imports it first: `Date` is shifted by the number of milliseconds in the
 * file CHAOS_CLOCK_FILE. Timers and `performance.now()` are unchanged, as when a machine's clock is set.
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
    // The file does not exist yet: no shift.
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
