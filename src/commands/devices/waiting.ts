import { findSeats } from '../../../projections/licenses/seats.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { Tell } from '../../domain/licenses/device-mails.ts'
import { isExhaustionTold } from '../../domain/licenses/exhausted.ts'
import { type IssuedLicense, licenses } from '../../domain/licenses/license.ts'
import { type DeviceClaim, takerOf } from '../../domain/licenses/marks.ts'
import type { FloatingSeats } from '../../domain/products/key-type.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { waitForSeat } from '../../seats/seat-waits.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { SeatsTaken } from './seats-taken.ts'

/** Who takes a seat, as it is stored. */
export const waiterOf = (claim: DeviceClaim): string => sha256(takerOf(claim))

/**
 * Notes that a taker found no floating seat, and records at most once an hour that none is left.
 * @returns the refusal of the taking
 */
export async function refuseForWant(
  ports: Ports<'db' | 'execute' | 'newId' | 'now'>,
  license: IssuedLicense & Tell & { floating: FloatingSeats },
  waiter: string,
  origin: Origin,
): Promise<SeatsTaken> {
  const { tenantId, licenseId, floating, tell } = license
  const found = await waitForSeat(ports.db, { licenseId, waiter }, floating.seatSeconds)
  const at = momentOf(ports)
  if (!isExhaustionTold(license, at)) {
    const { waiting } = found
    // A correlation of its own: a run that is repeated looks for what its activation has recorded.
    const own = { ...origin, correlationId: ports.newId('req') }
    await ports.execute(licenses, licenseId, { type: 'NoteExhausted', waiting, tell, at }, causeOf(own, at), {
      read: async () => {
        const entry = await findSeats(ports.db, { tenantId, licenseId }, [])
        if (!entry) throw new Refusal('license_not_found')
        return stateOf(entry)
      },
    })
  }
  return new SeatsTaken(found)
}
