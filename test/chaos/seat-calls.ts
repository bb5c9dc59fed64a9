import type { Called } from './calls.ts'
import type { LoadContext } from './load-context.ts'
import {
  expectedDuring,
  expectedOf,
  type License,
  noteActivation,
  noteDeactivation,
  type Outcome,
  type Seat,
  seatsPossiblyTaken,
} from './model.ts'
import { deviceLimit, productId } from './operator-commands.ts'

/** Calls use only the newest licenses, so that several calls concern the same license. */
const inUse = 24

/** The calls of devices, which check each response against what was acknowledged before. */
export function createSeatCalls(context: LoadContext) {
  function pickLicense(): License | undefined {
    const newest = context.licenses.slice(-inUse)
    return newest.length === 0 ? undefined : context.random.pick(newest)
  }

  /** @param isFree a further condition */
  function pickSeat(license: License, isFree: (seat: Seat) => boolean): Seat | undefined {
    const free = license.seats.filter((seat) => !seat.busy && isFree(seat))
    return free.length === 0 ? undefined : context.random.pick(free)
  }

  const isKnown = ({ isActive }: Seat): boolean => isActive !== undefined

  function send(call: 'activate' | 'deactivate' | 'validate', license: License, seat: Seat): Promise<Called> {
    const body = { product_id: productId, license_key: license.key, device_id: seat.deviceId }
    const path = `/v1/licenses/${call}`
    return context.request(license.tenantId, { method: 'POST', path, body: JSON.stringify(body) })
  }

  /** Reports a response that an existing license must not get. */
  function outcomeOf(
    called: Called,
    what: string,
    isDone: (body: Record<string, unknown>) => boolean,
  ): Outcome {
    if (called.came !== 'answer') return 'unknown'
    if (called.status !== 200) {
      context.fail({ what, expected: '200 or 503', found: `${called.status} ${JSON.stringify(called.body)}` })
      return 'unknown'
    }
    return isDone(called.body) ? 'done' : 'refused'
  }

  async function activate(): Promise<void> {
    const license = pickLicense()
    if (license?.revocation !== 'none') return
    const seat = pickSeat(license, isKnown)
    if (!seat) return
    seat.busy = true
    const what = `activate ${license.id} ${seat.deviceId}`
    const wasActive = seat.isActive
    const calls = ++license.seatCalls
    const others = seatsPossiblyTaken(license, seat)
    const called = await send('activate', license, seat)
    const outcome = outcomeOf(called, what, (body) => body.activated === true)
    const isAlone = calls === license.seatCalls && others === seatsPossiblyTaken(license, seat)
    if (outcome === 'refused' && revocationOf(license) === 'none') {
      const isFull = others >= deviceLimit && wasActive === false
      if (isAlone && !isFull) fail(what, 'a seat, since there is one', called)
    }
    noteActivation(seat, outcome)
    seat.busy = false
    if (outcome === 'done') context.acknowledged()
  }

  async function deactivate(): Promise<void> {
    const license = pickLicense()
    if (license?.revocation !== 'none') return
    const seat = pickSeat(license, ({ isActive }) => isActive === true)
    if (!seat) return
    seat.busy = true
    license.seatCalls++
    const what = `deactivate ${license.id} ${seat.deviceId}`
    const called = await send('deactivate', license, seat)
    const outcome = outcomeOf(called, what, (body) => body.deactivated === true)
    if (outcome === 'refused' && revocationOf(license) === 'none') fail(what, 'a seat that was taken', called)
    noteDeactivation(seat, outcome)
    seat.busy = false
    if (outcome === 'done') context.acknowledged()
  }

  async function validate(): Promise<void> {
    const license = pickLicense()
    const seat = license && pickSeat(license, () => true)
    if (seat) await validateSeat(license, seat)
  }

  async function validateSeat(license: License, seat: Seat): Promise<void> {
    seat.busy = true
    const before = expectedOf(license, seat)
    const called = await send('validate', license, seat)
    const what = `validate ${license.id} ${seat.deviceId}`
    const outcome = outcomeOf(called, what, (body) => body.valid === true)
    const expected = expectedDuring(before, expectedOf(license, seat))
    seat.busy = false
    if (outcome === 'unknown' || expected === 'either') return
    if ((outcome === 'done') !== (expected === 'valid')) fail(what, expected, called)
  }

  function fail(what: string, expected: string, called: Called): void {
    context.fail({
      what,
      expected,
      found: JSON.stringify(called.came === 'answer' ? called.body : called.came),
    })
  }

  return {
    activate,
    deactivate,
    validate,
    /** Validates the newest licenses and all revoked ones, where the response is known. */
    async validateKnown(): Promise<void> {
      const newest = context.licenses.slice(-inUse)
      const revoked = context.licenses.filter(({ revocation }) => revocation === 'acknowledged').slice(-200)
      for (const license of new Set([...newest, ...revoked])) {
        await Promise.all(license.seats.map((seat) => validateSeat(license, seat)))
      }
    },
  }
}

/** The current value: it may have changed during a call. */
const revocationOf = (license: License) => license.revocation
