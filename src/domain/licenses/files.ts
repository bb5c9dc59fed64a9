import { Refusal } from '../refusal.ts'
import { type ActivateInstance, afterEnds, instanceActivated, type Seated } from './activation.ts'
import { type Borrowed, requireMayBorrow } from './borrowing.ts'
import type { LicenseEvent, LicenseTerms } from './events.ts'
import { leaseEnd } from './expiry.ts'
import { claimOn, seatOf } from './floating.ts'
import { type Why, withReason } from './reasons.ts'
import { type FilesOfYear, filesWithinYear, isLive, isWithinYear } from './seat-files.ts'
import type { Seats } from './seats.ts'

/**
 * What a device without a network asks with, signed by its own key: each request has a new nonce and a higher counter, so
 * that an old one that somebody kept brings nothing.
 */
type FileRequest = { deviceKey: string; nonce: string; counter: number }

export type IssueFile = Omit<ActivateInstance, 'type'> & {
  type: 'IssueFile'
  fileId: string
  request: FileRequest
  /** How long the file is good, unless the license ends before. */
  seconds: number
  /** Infinity where only the number of borrowed seats is limited. */
  perSeatPerYear: number
} & Why

/** A device gives its seat back; its request was signed by the key that its file was made for. */
export type ReleaseFile = {
  type: 'ReleaseFile'
  instanceId: string
  deviceKey: string
  /** Of the file that is given back. */
  serial: number
  /** Of the floating seat that is given back with it; null for another. */
  fence: number | null
  at: string
} & Why

type WithFiles = Seated & FilesOfYear & Borrowed & Pick<LicenseTerms, 'keyHash'>

/**
 * Makes a file for a device, which takes a seat if it has none. The same request again makes no other file. A new file
 * replaces the device's last one. Of a license with floating seats, the device borrows its seat with it.
 * @throws Refusal `borrowing_off`, `borrow_limit_reached`, `file_request_outdated`, `file_limit_reached`, and what an activation
 *   refuses
 */
export const fileIssued = (license: WithFiles, command: IssueFile): LicenseEvent[] =>
  afterEnds(license, command, (after) => fileMade(after, command))

function fileMade(license: WithFiles, command: IssueFile): LicenseEvent[] {
  const { fileId, request, perSeatPerYear, at } = command
  const seating = instanceActivated(license, { ...command, type: 'ActivateInstance', ranOut: [] })
  const seat = seatOf(license, claimOn(license, command.claim), command.atLeast)
  const files = seat?.files ?? []
  const sent = files.find(({ nonce }) => nonce === request.nonce)
  if (sent && isLive(sent, at)) return []
  const last = files.at(-1)
  const isOld = last?.deviceKey === request.deviceKey && request.counter <= last.counter
  if (sent || isOld) throw new Refusal('file_request_outdated')
  const ofDevice = files.filter(({ issuedAt }) => isWithinYear(issuedAt, at)).length
  const ofLicense = filesWithinYear(license, at)
  const most = license.deviceLimit === null ? Infinity : license.deviceLimit * perSeatPerYear
  if (ofDevice >= perSeatPerYear || ofLicense >= most) throw new Refusal('file_limit_reached')
  const device = seat ?? { deviceId: command.instanceId, instanceId: command.instanceId }
  if (license.floating !== null) requireMayBorrow(license, { deviceId: device.deviceId, at })
  // The seat may have started its term.
  const start = seating.find((event) => event.type === 'LicenseStarted')
  const expiresAt = start?.data.expiresAt ?? license.expiresAt
  const endsAt = new Date(leaseEnd({ ...license, expiresAt }, command.seconds, at) * 1000).toISOString()
  // Two files of a device that are made at once must not have the same serial.
  const serial = Math.max(Date.parse(at) * 1000, (last?.serial ?? 0) + 1)
  const { deviceId, instanceId } = device
  return [
    ...seating,
    ...withReason(
      {
        type: 'LicenseFileIssued',
        data: { fileId, deviceId, instanceId, keyHash: license.keyHash, ...request, serial, endsAt, at },
      },
      command,
    ),
  ]
}

/**
 * Frees the seat of a device that gives its file back. Sent twice, it does so once.
 * @throws Refusal `device_not_found`, `file_not_found`, `file_release_outdated`, `seat_lost` for a floating seat that it does not name
 */
export function fileReleased(license: Seats, command: ReleaseFile): LicenseEvent[] {
  const { instanceId, deviceKey, serial, fence, at } = command
  const seat = [...license.seats.values()].find((each) => each.instanceId === instanceId)
  if (!seat) throw new Refusal('device_not_found')
  const ofKey = seat.files?.filter((file) => file.deviceKey === deviceKey) ?? []
  const file = ofKey.find((each) => each.serial === serial)
  if (!file) throw new Refusal('file_not_found')
  if (file.releasedAt !== null) return []
  if (file.replacedAt !== null) throw new Refusal('file_release_outdated')
  if (seat.fence !== null && seat.fence !== fence) throw new Refusal('seat_lost')
  const { deviceId } = seat
  const { fileId } = file
  return [
    ...withReason({ type: 'LicenseFileReleased', data: { fileId, deviceId, instanceId, at } }, command),
    // The file of an earlier activation frees no seat that the device took since.
    ...(seat.status === 'active' && seat.activatedAt <= file.issuedAt
      ? [{ type: 'DeviceDeactivated', data: { deviceId, instanceId, at } } as const]
      : []),
  ]
}
