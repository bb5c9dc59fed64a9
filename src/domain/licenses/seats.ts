import type { LicenseEvent } from './events.ts'
import type { DeviceIdentity, DeviceMarks } from './marks.ts'
import { filesWith, liveFile, type SeatFile } from './seat-files.ts'

/** A name that a person gave to a device, sealed under that person's key. */
export type GivenName = { subjectId: string; text: string }

/** A device that is or was active on the license. */
export type Seat = {
  deviceId: string
  instanceId: string
  installId: string | null
  name: string
  /** By what the machine is recognized; null for a device that has never said it. */
  identity: DeviceIdentity | null
  /** What it was recognized by before its last change, and until when. */
  former: { marks: DeviceMarks; until: string } | null
  /** When two machines with one hash were last noticed in this seat. */
  inTwoPlacesAt: string | null
  platform: string | null
  /** The name that the customer gave it while it has been active, sealed. */
  givenName: GivenName | null
  /** The license files that were made for it; null for a device that never asked for one. */
  files: readonly SeatFile[] | null
  /** Of a floating seat; null for one that lasts until it is given back. */
  fence: number | null
  /** Whose device it is, where the seats are of people; else null. */
  personId: string | null
  status: 'active' | 'deactivated'
  activatedAt: string
  deactivatedAt: string | null
}

/** What of a device everyone sees who sees its license. */
export type ShownSeat = Omit<
  Seat,
  'installId' | 'identity' | 'former' | 'inTwoPlacesAt' | 'givenName' | 'files' | 'fence' | 'personId'
> & {
  /** `machine`, and the names of its components; absent for a device that has not said it. */
  identifiedBy?: string[]
  /** Absent unless two machines with one hash were noticed. */
  inTwoPlacesAt?: string
  /** Until when its license file lets it go on without a network; absent without a file, and after it was given back. */
  fileEndsAt?: string
}

/** Named field by field, so that a new one stays hidden until it is added here. */
export const shownSeat = (seat: Seat): ShownSeat => ({
  deviceId: seat.deviceId,
  instanceId: seat.instanceId,
  name: seat.name,
  platform: seat.platform,
  status: seat.status,
  activatedAt: seat.activatedAt,
  deactivatedAt: seat.deactivatedAt,
  ...(seat.identity && { identifiedBy: markNames(seat.identity) }),
  ...(seat.inTwoPlacesAt !== null && { inTwoPlacesAt: seat.inTwoPlacesAt }),
  ...fileEnd(seat.files?.at(-1)),
})

const fileEnd = (file: SeatFile | undefined) =>
  file === undefined || file.releasedAt !== null ? {} : { fileEndsAt: file.endsAt }

const markNames = ({ machine, components }: DeviceIdentity): string[] => [
  ...(machine === null ? [] : ['machine']),
  ...Object.keys(components).sort(),
]

/** The devices of a license. */
export type Seats = {
  seatsUsed: number
  /**
   * By device id. A command about one device needs only that device's seat and `seatsUsed`, so a license
   * with thousands of devices is decided on without loading all of them.
   */
  seats: ReadonlyMap<string, Seat>
  /** The people under whose keys its devices have been hashed. */
  deviceSubjects: readonly string[]
}

type SeatEvent = Extract<
  LicenseEvent,
  {
    type:
      | 'DeviceActivated'
      | 'DeviceDeactivated'
      | 'DeviceIdentified'
      | 'DeviceInTwoPlaces'
      | 'DeviceNamed'
      | 'LicenseFileIssued'
      | 'LicenseFileReleased'
  }
>

/** The license after something happened to the seat of one device. */
export function evolveSeats<License extends Seats>(license: License, event: SeatEvent): License {
  const seat = license.seats.get(event.data.deviceId)
  if (event.type === 'DeviceActivated') return withSeat(license, newSeat(event.data, seat))
  if (event.type === 'DeviceIdentified') return withMarks(license, seat, event.data)
  if (seat === undefined) return license
  switch (event.type) {
    case 'DeviceDeactivated':
      return withSeat(license, { ...seat, status: 'deactivated', deactivatedAt: event.data.at })
    case 'DeviceInTwoPlaces':
      return withSeat(license, { ...seat, inTwoPlacesAt: event.data.at })
    case 'DeviceNamed':
      return withSeat(license, { ...seat, givenName: event.data.name })
    case 'LicenseFileIssued': {
      const { deviceId: _, instanceId: __, at: issuedAt, ...file } = event.data
      return withSeat(license, { ...seat, files: filesWith(seat.files, { ...file, issuedAt }) })
    }
    case 'LicenseFileReleased': {
      const { fileId, at: releasedAt } = event.data
      const files = seat.files?.map((file) => (file.fileId === fileId ? { ...file, releasedAt } : file))
      return withSeat(license, { ...seat, files: files ?? null })
    }
  }
}

/** A device that is activated again keeps its license files: what it must not use any more stays withdrawn. */
const newSeat = (
  { at, fence, personId, ...device }: Extract<SeatEvent, { type: 'DeviceActivated' }>['data'],
  before: Seat | undefined,
): Seat => ({
  ...device,
  fence: fence ?? null,
  personId: personId ?? null,
  identity: null,
  former: null,
  inTwoPlacesAt: null,
  givenName: null,
  files: before?.files ?? null,
  status: 'active',
  activatedAt: at,
  deactivatedAt: null,
})

/** The key counts even where the seat is not loaded. */
function withMarks<License extends Seats>(
  license: License,
  seat: Seat | undefined,
  { marks, before, at }: Extract<SeatEvent, { type: 'DeviceIdentified' }>['data'],
): License {
  const subjects = marks.identity ? [marks.identity.subjectId] : []
  const deviceSubjects = [...new Set([...license.deviceSubjects, ...subjects])]
  const former = before && { marks: before, until: at }
  const known = { ...license, deviceSubjects }
  return seat === undefined ? known : withSeat(known, { ...seat, ...marks, former })
}

/** The license with a new or changed seat. */
function withSeat<License extends Seats>(license: License, seat: Seat): License {
  const before = license.seats.get(seat.deviceId)?.status === 'active' ? 1 : 0
  const after = seat.status === 'active' ? 1 : 0
  return {
    ...license,
    seatsUsed: license.seatsUsed - before + after,
    seats: new Map(license.seats).set(seat.deviceId, seat),
  }
}

/** All seats are freed but those of devices whose license files have not ended, which go on without a network. */
export function vacated<License extends Seats>(license: License, at: string): License {
  const vacate = (seat: Seat): Seat =>
    seat.status === 'active' && !liveFile(seat.files, at)
      ? { ...seat, status: 'deactivated', deactivatedAt: at }
      : seat
  const seats = new Map(Array.from(license.seats, ([deviceId, seat]) => [deviceId, vacate(seat)]))
  return {
    ...license,
    seats,
    seatsUsed: [...seats.values()].filter(({ status }) => status === 'active').length,
  }
}
