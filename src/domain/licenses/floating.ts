import type { FloatingSeats } from '../products/key-type.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { recognized } from './identity.ts'
import type { DeviceClaim } from './marks.ts'
import { liveFile } from './seat-files.ts'
import type { Seat, Seats } from './seats.ts'

/** The seats of a license whose devices come and go, of which each is kept only as long as it is used. */
export type Floating = {
  /** null for a license whose devices keep their seats until they give them back. */
  floating: FloatingSeats | null
  /** The fence of the seat that was taken last; each taking has a higher one. 0 before the first. */
  lastFence: number
}

/** A seat that was not kept until its end. The fence tells it from the seat that the device took afterwards. */
export type RanOut = { deviceId: string; fence: number }

/** As an event records it. Whether there may be relays, the license does not copy: its key type says so. */
export const recordedFloating = ({
  floatingSeats,
}: {
  floatingSeats?: FloatingSeats | null | undefined
}): { floating?: FloatingSeats } => {
  if (!floatingSeats) return {}
  const { relays: _, ...floating } = floatingSeats
  return { floating }
}

/** How many seats may be taken at once, with those above the limit; null for any number. */
export function mostSeats({
  deviceLimit,
  floating,
}: Pick<LicenseTerms, 'deviceLimit'> & Pick<Floating, 'floating'>): number | null {
  if (deviceLimit === null || !floating?.overdraft) return deviceLimit
  const { overdraft } = floating
  return deviceLimit + ('seats' in overdraft ? overdraft.seats : Math.floor(deviceLimit * overdraft.share))
}

/**
 * Of seats that ran out, those that are still taken: a device may have given its seat back, or taken another, meanwhile. One that is
 * borrowed has not run out, whatever the clock says that keeps the ends.
 */
export function freedByEnd(
  { seats }: Seats,
  ranOut: readonly RanOut[],
  at: string,
): Extract<LicenseEvent, { type: 'DeviceDeactivated' }>[] {
  return ranOut.flatMap(({ deviceId, fence }) => {
    const seat = seats.get(deviceId)
    if (seat?.status !== 'active' || seat.fence !== fence || liveFile(seat.files, at)) return []
    const { instanceId } = seat
    return [{ type: 'DeviceDeactivated', data: { deviceId, instanceId, ranOut: true, at } }]
  })
}

/**
 * Finds the seat of a device, as {@link recognized} does; a process has the one whose id it was given, whatever its machine.
 * @param atLeast how many components make it the same device
 */
export const seatOf = (
  { floating, seats }: Seats & Pick<Floating, 'floating'>,
  claim: DeviceClaim,
  atLeast: number | null,
): Seat | undefined =>
  floating?.scope === 'process'
    ? [...seats.values()].find(
        ({ status, instanceId }) => status === 'active' && instanceId === claim.instanceId,
      )
    : recognized(seats.values(), claim, atLeast)

/** What is recorded of a device: of a process, not its machine, on which others have seats of their own. */
export const claimOn = <Claim extends DeviceClaim>(
  { floating }: Pick<Floating, 'floating'>,
  claim: Claim,
): Claim => (floating?.scope === 'process' ? { ...claim, installId: null, identities: [] } : claim)

/** Whether a seat is a machine's: then what the machine says of itself is recorded. */
export const isOfMachine = ({ floating }: Pick<Floating, 'floating'>): boolean =>
  floating === null || floating.scope === 'device'

/** Whether a caller that names a fence means this seat, and not one that its device had before. Only floating seats have one. */
export const isOfFence = ({ fence }: Pick<Seat, 'fence'>, named: number | null | undefined): boolean =>
  fence === null || named === null || named === undefined || named === fence
