import { endSeats } from '../commands/devices/floating.ts'
import type { Ports } from '../ports.ts'
import type { LicenseOfSeats } from '../seats/seat-ends.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/**
 * Records which floating seats ran out. A seat is free for another device at its end, whether or not that is recorded, so a late
 * poll takes nothing from anyone: until then the seat only counts as used where people read it.
 */
export const recordSeatEnds = (
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'seatEnds'>,
  { most = 500, onFailure }: { most?: number; onFailure: (failure: Failure) => void },
): Poller =>
  processOf<LicenseOfSeats>(ports, onFailure, {
    name: 'licenses.seats',
    everyMs: 30_000,
    lanes: 4,
    most,
    due: ({ most: wanted, except }) => ports.seatEnds.licensesWithPassed(wanted, except),
    idOf: ({ licenseId }) => licenseId,
    advance: (license) => endSeats(ports, license, originOfProcess()),
  })
