/**
 * What is known of a license from answers alone. An answer that was lost leaves it open whether the command was carried
 * out, and when: it may still be on its way. A seat that it concerned is asked for nothing more.
 */
export type Seat = {
  readonly deviceId: string
  /** Undefined: not known any more. */
  isActive: boolean | undefined
  /** One call at a time, so that answers have an order. */
  busy: boolean
  /** How often it must have been activated and deactivated by now, and how often at most. */
  activations: Bounds
  deactivations: Bounds
}

type Bounds = { least: number; most: number }

/** `requested`: a call that may have revoked it was sent. */
type Revocation = 'none' | 'requested' | 'acknowledged'

export type License = {
  readonly id: string
  readonly key: string
  readonly tenantId: string
  readonly seats: readonly Seat[]
  /** How many calls for a seat have begun. */
  seatCalls: number
  revocation: Revocation
}

/** More devices than seats, so that the limit is reached. */
const devices = ['laptop', 'desktop', 'phone', 'tablet']

/** A license as it is when it was minted. */
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

/** What a call for a seat came to: `done`, `refused` by an answer, or `unknown`. */
export type Outcome = 'done' | 'refused' | 'unknown'

export function noteActivation(seat: Seat, outcome: Outcome): void {
  note(seat, seat.activations, true, outcome)
}

export function noteDeactivation(seat: Seat, outcome: Outcome): void {
  note(seat, seat.deactivations, false, outcome)
}

function note(seat: Seat, bounds: Bounds, wanted: boolean, outcome: Outcome): void {
  // Where it was so already, nothing is recorded.
  if (outcome === 'refused' || seat.isActive === wanted) return
  bounds.most++
  if (outcome === 'done' && seat.isActive !== undefined) {
    bounds.least++
    seat.isActive = wanted
  } else {
    seat.isActive = undefined
  }
}

/** How often the log has a seat activated and deactivated. */
export type Recorded = { activations: number; deactivations: number }

/** Compares a seat with the log, when no call is under way. @returns what does not fit, in words */
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

/** What an answer to validate has to be: `either` where it is not known. */
export type Expected = 'valid' | 'invalid' | 'either'

/** What is known of a seat and its license at one moment. */
export function expectedOf(license: License, seat: Seat): Expected {
  if (license.revocation === 'acknowledged') return 'invalid'
  if (seat.isActive === false) return 'invalid'
  return seat.isActive === true && license.revocation === 'none' ? 'valid' : 'either'
}

/** Of what was known before a call and after it. A revocation in between leaves it open. */
export function expectedDuring(before: Expected, after: Expected): Expected {
  return before === after ? before : 'either'
}

/** How many seats may be taken besides one. */
export function seatsPossiblyTaken(license: License, besides: Seat): number {
  return license.seats.filter((seat) => seat !== besides && (seat.busy || seat.isActive !== false)).length
}
