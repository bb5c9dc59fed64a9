import { listLostSeats, nameOfSeat, type PersonSeatPlace } from '../../projections/licenses/person-seats.ts'
import { freeLostSeat } from '../commands/licenses/person-seats.ts'
import type { Ports } from '../ports.ts'
import type { Poller } from './poller.ts'
import { type Failure, originOfProcess, processOf } from './process-manager.ts'

/** Frees the seats of people who left the organization, and those of licenses that another customer got: what a request left. */
export const followPeople = (
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  onFailure: (failure: Failure) => void,
): Poller =>
  processOf<PersonSeatPlace>(ports, onFailure, {
    name: 'licenses.person_seats',
    everyMs: 5000,
    lanes: 4,
    due: (wanted) => listLostSeats(ports.db, wanted),
    idOf: nameOfSeat,
    advance: (seat) => freeLostSeat(ports, seat, originOfProcess()),
  })
