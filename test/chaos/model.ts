/**
 * The expected state of a license, from responses alone. After a lost response it is unknown whether and when the
 * command is executed, so the seat is not used again.
 */
export type Seat = {
  readonly deviceId: string
  /** Undefined when unknown. */
  isActive: boolean | undefined
  /** One call at a time, so that responses have an order. */
  busy: boolean
  /** The minimum and maximum number of activations and deactivations so far. */
  activations: Bounds
  deactivations: Bounds
}

type Bounds = { least: number; most: number }

/** `requested`: a call was sent that may have revoked it. */
type Revocation = 'none' | 'requested' | 'acknowledged'

export type License = {
  readonly id: string
  readonly key: string
  readonly tenantId: string
  readonly seats: readonly Seat[]
  /** The number of started calls for a seat. */
  seatCalls: number
  revocation: Revocation
}

/** More devices than seats, so that the limit is reached. */
const devices = ['laptop', 'desktop', 'phone', 'tablet']

/** A newly minted license. */
export function newLicense(id: string, key: string, tenantId: string): License {
  const seats = devices.map((deviceId) => ({
    deviceId,
    isActive: false,
    busy: false,
    activations: { least: 0, most: 0 },
    deactivations: { least: 0, most: 0 },
  }))
  return { id, key, tenantId, seats, seatCalls: 0, revocation: 'none' }
}

/** The outcome of a call for a seat; `refused` means refused by a response. */
export type Outcome = 'done' | 'refused' | 'unknown'

export function noteActivation(seat: Seat, outcome: Outcome): void {
  note(seat, seat.activations, true, outcome)
}

export function noteDeactivation(seat: Seat, outcome: Outcome): void {
  note(seat, seat.deactivations, false, outcome)
}

function note(seat: Seat, bounds: Bounds, wanted: boolean, outcome: Outcome): void {
  // A command that is already true records nothing.
  if (outcome === 'refused' || seat.isActive === wanted) return
  bounds.most++
  if (outcome === 'done' && seat.isActive !== undefined) {
    bounds.least++
    seat.isActive = wanted
  } else {
    seat.isActive = undefined
  }
}

/** The number of recorded activations and deactivations of a seat. */
export type Recorded = { activations: number; deactivations: number }

/** Compares a seat with the log while no call is running. @returns the differences, in words */
export function compareSeat(seat: Seat, recorded: Recorded): string[] {
  const { activations, deactivations } = recorded
  const isActive = activations > deactivations
  const faults: string[] = []
  if (activations - deactivations !== 0 && activations - deactivations !== 1) {
    faults.push(`${activations} activations and ${deactivations} deactivations do not alternate`)
  }
  if (seat.isActive !== undefined && seat.isActive !== isActive) {
    faults.push(`acknowledged as ${nameOf(seat.isActive)}, recorded as ${nameOf(isActive)}`)
  }
  const counts = [
    ['activations', seat.activations, activations],
    ['deactivations', seat.deactivations, deactivations],
  ] as const
  for (const [what, { least, most }, found] of counts) {
    if (found < least || found > most) faults.push(`${found} ${what} recorded, ${least} to ${most} expected`)
  }
  return faults
}

const nameOf = (isActive: boolean): string => (isActive ? 'active' : 'not active')

/** The expected response to validate: `either` when it is unknown. */
export type Expected = 'valid' | 'invalid' | 'either'

/** What validate should answer in the known state of a seat and its license. */
export function expectedOf(license: License, seat: Seat): Expected {
  if (license.revocation === 'acknowledged') return 'invalid'
  if (seat.isActive === false) return 'invalid'
  return seat.isActive === true && license.revocation === 'none' ? 'valid' : 'either'
}

/** Combines the expectations before and after a call. A revocation in between allows both. */
export function expectedDuring(before: Expected, after: Expected): Expected {
  return before === after ? before : 'either'
}

/** The maximum number of taken seats, without the given one. */
export function seatsPossiblyTaken(license: License, besides: Seat): number {
  return license.seats.filter((seat) => seat !== besides && (seat.busy || seat.isActive !== false)).length
}
