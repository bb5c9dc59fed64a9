import { findSeats } from '../../../projections/licenses/seats.ts'
import type { Tell } from '../../domain/licenses/device-mails.ts'
import { isOfFence, type RanOut } from '../../domain/licenses/floating.ts'
import { type IssuedLicense, licenses } from '../../domain/licenses/license.ts'
import { keptUntil } from '../../domain/licenses/seat-files.ts'
import type { Seat } from '../../domain/licenses/seats.ts'
import type { FloatingSeats } from '../../domain/products/key-type.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import type { LicenseOfSeats } from '../../seats/seat-ends.ts'
import { stopWaiting } from '../../seats/seat-waits.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { refuseForWant } from './waiting.ts'

/** A floating seat that is taken until its end, unless its device calls again. */
export type FloatingSeat = { deviceId: string; fence: number; endsAt: string }

/** What a taking goes by: the seats that ran out, and whether the license that was found before may be outdated. */
export type Taking = { ranOut: readonly RanOut[]; isStale: boolean }

/** How often a taking is repeated whose own seat runs out at that moment. */
const takings = 3

/** The license, and what its product tells its holder about devices. */
type Found = { license: IssuedLicense; deviceMails: Tell['tell'] }

/** Who takes a seat, and for which request. */
type Taker = { waiter: string; origin: Origin }

/**
 * Takes a seat of a license for a device and, if the seat floats, sets its end. A seat that ran out is free from the moment on at
 * which it is needed, whenever that is recorded. After a crash between the append and the first end of the seat, the end is set when the
 * seat is next looked at. A taker that finds no floating seat is counted until it may come again.
 * @param take activates the device
 * @returns what was taken; `floating` is undefined for a seat that lasts until it is given back
 * @throws SeatsTaken when all floating seats are taken
 * @throws Refusal `seat_lost` when the seat ran out again and again meanwhile; what `take` refuses
 */
export async function takeSeat<Taken extends { license: IssuedLicense }>(
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'seatEnds'>,
  { license, deviceMails: tell }: Found,
  { waiter, origin }: Taker,
  take: (taking: Taking) => Promise<Taken>,
  seatIn: (taken: Taken) => Seat | undefined,
): Promise<Taken & { floating: FloatingSeat | undefined }> {
  const { licenseId, floating } = license
  if (floating === null) return { ...(await take({ ranOut: [], isStale: false })), floating: undefined }
  for (let taking = 0; taking < takings; taking++) {
    // A seat without an end runs out for nobody: it gets its first one where a seat is wanted.
    if (taking > 0) await ports.seatEnds.begin(licenseId, floating.seatSeconds)
    const ranOut = await ports.seatEnds.passed(licenseId)
    const isStale = taking > 0 || ranOut.length > 0
    const taken = await take({ ranOut, isStale }).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'seat_limit_reached') throw error
      // Another call may have seen a seat run out just before this one looked; it is free for either of them.
      if (taking > 0) throw await refuseForWant(ports, { ...license, floating, tell }, waiter, origin)
      return undefined
    })
    const seat = taken && seatIn(taken)
    if (!seat) continue
    const ofSeat = { ...seat, fileEndsAt: keptUntil(seat.files) }
    const [kept] = await Promise.all([
      keepSeat(ports, { licenseId, floating }, ofSeat),
      stopWaiting(ports.db, { licenseId, waiter }),
    ])
    if (kept) return { ...taken, floating: kept }
  }
  throw new Refusal('seat_lost')
}

/**
 * Keeps a floating seat for one more period, unless it ran out.
 * @param named the fence of the seat that the device means; undefined for whichever it has
 * @returns undefined when the seat ran out, or is not the one that the device means
 */
export async function keepSeat(
  { seatEnds }: Ports<'seatEnds'>,
  { licenseId, floating: { seatSeconds } }: { licenseId: string; floating: FloatingSeats },
  { deviceId, fence, fileEndsAt }: Pick<Seat, 'deviceId' | 'fence'> & { fileEndsAt: string | null },
  named?: number,
): Promise<FloatingSeat | undefined> {
  if (fence === null || !isOfFence({ fence }, named)) return undefined
  const endsAt = await seatEnds.keep({ licenseId, deviceId, fence, seatSeconds, fileEndsAt })
  return endsAt === undefined ? undefined : { deviceId, fence, endsAt }
}

/**
 * Records the floating seats of a license that ran out. They were free before; from now on everyone can read it, and the devices
 * do not count for the plan any more.
 * @throws Refusal `license_not_found`
 */
export async function endSeats(
  ports: Ports<'db' | 'execute' | 'now' | 'seatEnds'>,
  { tenantId, licenseId }: LicenseOfSeats,
  origin: Origin,
): Promise<void> {
  const ranOut = await ports.seatEnds.passed(licenseId)
  if (ranOut.length === 0) return
  const at = momentOf(ports)
  const deviceIds = ranOut.map(({ deviceId }) => deviceId)
  await ports.execute(licenses, licenseId, { type: 'EndSeats', ranOut, at }, causeOf(origin, at), {
    read: async () => {
      const found = await findSeats(ports.db, { tenantId, licenseId }, deviceIds)
      if (!found) throw new Refusal('license_not_found')
      return stateOf(found)
    },
  })
}
