/** A name that a person gave to a device, sealed under that person's key. */
export type GivenName = { subjectId: string; text: string }

/** A device that is or was active on the license. */
export type Seat = {
  deviceId: string
  instanceId: string
  installId: string | null
  name: string
  platform: string | null
  /** The name that the customer gave it while it has been active, sealed. */
  givenName: GivenName | null
  status: 'active' | 'deactivated'
  activatedAt: string
  deactivatedAt: string | null
}

/** What of a device everyone sees who sees its license. */
export type ShownSeat = Omit<Seat, 'installId' | 'givenName'>

/** Named field by field, so that a new one stays hidden until it is added here. */
export const shownSeat = (seat: Seat): ShownSeat => ({
  deviceId: seat.deviceId,
  instanceId: seat.instanceId,
  name: seat.name,
  platform: seat.platform,
  status: seat.status,
  activatedAt: seat.activatedAt,
  deactivatedAt: seat.deactivatedAt,
})

/** The devices of a license. */
export type Seats = {
  seatsUsed: number
  /**
   * By device id. A command about one device needs only that device's seat and `seatsUsed`, so a license
   * with thousands of devices is decided on without loading all of them.
   */
  seats: ReadonlyMap<string, Seat>
}

/**
 * Finds the seat of an app that activates again, by the anonymous id that it had before its first activation,
 * else by the device's name.
 */
export function sameDevice(
  seats: Iterable<Seat>,
  { installId, name }: Pick<Seat, 'installId' | 'name'>,
): Seat | undefined {
  const active = [...seats].filter(({ status }) => status === 'active')
  const known = active.find((seat) => installId !== null && seat.installId === installId)
  return known ?? active.find((seat) => seat.name === name)
}

/** The license with a new or changed seat. */
export function withSeat<License extends Seats>(license: License, seat: Seat): License {
  const before = license.seats.get(seat.deviceId)?.status === 'active' ? 1 : 0
  const after = seat.status === 'active' ? 1 : 0
  return {
    ...license,
    seatsUsed: license.seatsUsed - before + after,
    seats: new Map(license.seats).set(seat.deviceId, seat),
  }
}

/** The seats after all of them were freed at a moment. */
export function vacated(seats: ReadonlyMap<string, Seat>, at: string): ReadonlyMap<string, Seat> {
  const vacate = (seat: Seat): Seat =>
    seat.status === 'active' ? { ...seat, status: 'deactivated', deactivatedAt: at } : seat
  return new Map(Array.from(seats, ([deviceId, seat]) => [deviceId, vacate(seat)]))
}
