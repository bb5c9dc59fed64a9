import { Refusal } from '../../domain/refusal.ts'
import type { Waiting } from '../../seats/seat-waits.ts'

/** All floating seats of a license are taken: when to come again, how many wait, and perhaps who has them. */
export class SeatsTaken extends Refusal {
  readonly waiting: Waiting

  constructor(waiting: Waiting) {
    super('seat_limit_reached', waiting.retryAfterSeconds)
    this.name = 'SeatsTaken'
    this.waiting = waiting
  }
}
