import { sameJson } from '../equality.ts'
import type { LicenseEvent } from './events.ts'
import {
  type DeviceClaim,
  type DeviceIdentity,
  type DeviceMarks,
  fewestComponents,
  maxComponents,
} from './marks.ts'
import type { Seat } from './seats.ts'

/** Marks that go back and forth within this time belong to two machines. */
const twoPlacesMs = 86_400_000

/**
 * Finds the seat of a device: by an id that it was given, else by its machine, else by its components, else by its
 * name. By the name only a seat without any other mark is found: an app that identifies itself takes it over once, and
 * from then on nobody else finds it by its name. What is hashed
 * under the key of an erased person counts as no mark, because it can no longer be computed. What was imported does not
 * count either until the device says who it is: its app may identify it in another way than the one before.
 * @param atLeast how many components must be equal; null for more than half of those that both sides have
 */
export function recognized(
  seats: Iterable<Seat>,
  claim: DeviceClaim,
  atLeast: number | null,
): Seat | undefined {
  const active = [...seats].filter(({ status }) => status === 'active')
  return (
    active.find((seat) => hasId(seat, claim)) ??
    active.find((seat) => hasMachine(seat, claim)) ??
    closest(active, claim, atLeast) ??
    active.find((seat) => seat.name === claim.name && isUnmarked(seat, claim))
  )
}

/** Other seats of the machine itself, which it must not hold as well. */
export const alsoHeld = (seats: Iterable<Seat>, seat: Seat, claim: DeviceClaim): Seat[] =>
  [...seats].filter(
    (other) =>
      other !== seat && other.status === 'active' && (hasInstall(other, claim) || hasMachine(other, claim)),
  )

const hasInstall = (seat: Seat, { installId }: DeviceClaim): boolean =>
  installId !== null && seat.installId === installId

const hasId = (seat: Seat, claim: DeviceClaim): boolean =>
  hasInstall(seat, claim) || seat.instanceId === claim.instanceId

const hasMachine = (seat: Seat, claim: DeviceClaim): boolean => {
  const machine = comparable(seat, claim)?.machine ?? null
  return machine !== null && seat.identity?.machine === machine
}

const isUnmarked = (seat: Seat, claim: DeviceClaim): boolean => {
  const isOfErased = claim.identities.length > 0 && comparable(seat, claim) === undefined
  return seat.installId === null && (seat.identity === null || seat.identity.imported === true || isOfErased)
}

/** The claim's identity under the key that the seat's is hashed under; hashes of different keys say nothing. */
const comparable = ({ identity }: Seat, { identities }: DeviceClaim): DeviceIdentity | undefined =>
  identity === null ? undefined : identities.find(({ subjectId }) => subjectId === identity.subjectId)

/** The seat with the largest share of equal components, if they are enough; the earlier one of two. */
function closest(seats: readonly Seat[], claim: DeviceClaim, atLeast: number | null): Seat | undefined {
  let found: { seat: Seat; share: number } | undefined
  for (const seat of seats) {
    const { equal, both } = comparedComponents(seat, claim)
    if (equal < Math.max(fewestComponents, atLeast ?? Math.floor(both / 2) + 1)) continue
    const share = equal / both
    if (share > (found?.share ?? 0)) found = { seat, share }
  }
  return found?.seat
}

function comparedComponents(seat: Seat, claim: DeviceClaim): { equal: number; both: number } {
  const said = comparable(seat, claim)?.components ?? {}
  const known = seat.identity?.components ?? {}
  const both = Object.keys(known).filter((name) => Object.hasOwn(said, name))
  return { equal: both.filter((name) => known[name] === said[name]).length, both: both.length }
}

/** What is recorded when the device in a seat says who it is: nothing if that is known. */
export function identified(seat: Seat, claim: DeviceClaim, at: string): LicenseEvent[] {
  const { deviceId, instanceId } = seat
  const before = marksOf(seat)
  const marks = marksAfter(before, claim)
  if (sameJson(before, marks)) return []
  return [
    { type: 'DeviceIdentified', data: { deviceId, instanceId, marks, before, at } },
    ...(isInTwoPlaces(seat, marks, at)
      ? [{ type: 'DeviceInTwoPlaces', data: { deviceId, instanceId, at } } as const]
      : []),
  ]
}

/** What is recorded of a device that takes a seat besides its activation, which records all but its identity. */
export const identifiedAtFirst = (
  device: Pick<Seat, 'deviceId' | 'instanceId'> & DeviceMarks,
  at: string,
): LicenseEvent[] => {
  const { deviceId, instanceId, identity } = device
  if (identity === null) return []
  return [
    { type: 'DeviceIdentified', data: { deviceId, instanceId, marks: marksOf(device), before: null, at } },
  ]
}

const marksOf = ({ installId, name, identity }: DeviceMarks): DeviceMarks => ({ installId, name, identity })

/** The marks of a seat after its device has said who it is. What it does not say stays as it was. */
export function marksAfter(
  seat: DeviceMarks,
  { installId, name, identities: [identity] }: DeviceClaim,
): DeviceMarks {
  return {
    installId: installId ?? seat.installId,
    name: name ?? seat.name,
    identity: identity ? identityAfter(seat.identity, identity) : seat.identity,
  }
}

function identityAfter(before: DeviceIdentity | null, said: DeviceIdentity): DeviceIdentity {
  if (before?.subjectId !== said.subjectId) return said
  const components = { ...before.components, ...said.components }
  return {
    ...said,
    machine: said.machine ?? before.machine,
    components: Object.keys(components).length > maxComponents ? said.components : components,
  }
}

/** Whether a machine shows the marks again that it had before its last change: two machines have the same hash. */
function isInTwoPlaces({ identity, former, inTwoPlacesAt }: Seat, marks: DeviceMarks, at: string): boolean {
  if (former === null || identity === null || identity.machine === null) return false
  const isAgo = (then: string) => Date.parse(at) - Date.parse(then) >= twoPlacesMs
  if (isAgo(former.until) || (inTwoPlacesAt !== null && !isAgo(inTwoPlacesAt))) return false
  return marks.identity?.machine === identity.machine && sameJson(former.marks, marks)
}
