import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import { activated, type DeviceCommand, decideOnDevice } from './activation.ts'
import { type Borrowed, evolveBorrowed } from './borrowing.ts'
import { type CustomerCommand, decideByCustomer, withFree } from './customer.ts'
import { type EditCommand, edited, type SuspendCommand, suspended } from './edit.ts'
import type { Holder, LicenseEvent, LicenseTerms } from './events.ts'
import { type Exhausted, exhausted, type NoteExhausted } from './exhausted.ts'
import { fileIssued, fileReleased, type IssueFile, type ReleaseFile } from './files.ts'
import type { Floating } from './floating.ts'
import {
  causeOfRevocation,
  type DesiredState,
  evolveBySale,
  followed,
  type SaleFollowing,
} from './following.ts'
import { endOf } from './grace.ts'
import { identifiedAtFirst } from './identity.ts'
import { type ImportCommand, imported } from './imported.ts'
import { keyMail, keySent, type MailLanguage, type SendKey } from './key-mail.ts'
import { decideOnLink, evolveLink, type LinkCommand, type Linked, linkIn, type Owned } from './link.ts'
import { isOfUsage, type NoteUsage, usageNoted } from './metered.ts'
import {
  decideOnPersonSeat,
  evolveNamed,
  isNamedCommand,
  type Named,
  type NamedCommand,
  unassigned,
} from './named.ts'
import { isOfPerson } from './named-events.ts'
import { type Noticed, type NoticeExpiry, noNotice, noticed, toldByMail } from './notices.ts'
import { type Why, withReason } from './reasons.ts'
import { evolveRelays, isOfRelay, type Relays } from './relay-seats.ts'
import { decideOnRelay, type RelayCommand } from './relays.ts'
import { type FilesOfYear, withFile } from './seat-files.ts'
import { evolveSeats, type Seats, vacated } from './seats.ts'
import {
  decideOnSharing,
  evolveSharing,
  isOfSharing,
  type Sharing,
  type SharingCommand,
  sharingAfterRemint,
} from './sharing.ts'
import type { Standing } from './status.ts'
import { type Term, termIn } from './term.ts'
import { takenBackReason, type UndoCommand, undone } from './undo.ts'

export type IssuedLicense = Omit<
  LicenseTerms,
  'at' | keyof Term | 'graceSeconds' | 'updatesUntil' | 'floating' | 'named' | keyof Owned
> &
  Floating &
  Named &
  Linked &
  SaleFollowing &
  Seats &
  Noticed &
  FilesOfYear &
  Relays &
  Borrowed &
  Exhausted &
  Sharing &
  Standing & {
    status: 'issued'
    /** The end that has already been recorded by `LicenseExpired` or `LicenseFellBack`; see `endOf`. */
    endedAt: string | null
    /** When its import was undone: its key may be imported again, as another license. */
    takenBackAt: string | null
    suspendedReason: string | null
    /** When its vendor last asked to mail the key to its holder. */
    keyMailAskedAt: string | null
    /** When the customer freed seats, as far as it still counts. */
    freedByCustomerAt: readonly string[]
  }

export type License = { status: 'absent' } | IssuedLicense

export type LicenseCommand =
  | { type: 'MintLicense'; terms: LicenseTerms; sendKey?: boolean }
  | ImportCommand
  | DeviceCommand
  | IssueFile
  | ReleaseFile
  | RelayCommand
  | NamedCommand
  | ({
      type: 'RemintLicense'
      keyHash: string
      displayKey: string
      keepDevices: boolean
      /** Whether the new key is sent to the holder by mail. */
      sendKey?: boolean
      at: string
    } & MailLanguage &
      Why)
  | NoteExhausted
  | NoteUsage
  | SendKey
  | { type: 'RevokeLicense'; reason: string | null; at: string }
  | { type: 'RenewLicense'; expiresAt: string; at: string }
  /** @param mail whether the product tells its customers */
  | { type: 'EndPaidPeriod'; mail?: boolean; at: string }
  | NoticeExpiry
  | LinkCommand
  | ({ type: 'FollowSale' } & DesiredState)
  | { type: 'EraseHolder'; subjectId: string; at: string }
  | { type: 'ReseatDevice'; deviceId: string; at: string }
  | UndoCommand
  | EditCommand
  | CustomerCommand
  | SharingCommand
  | SuspendCommand

export const absentLicense: License = { status: 'absent' }

/**
 * Returning no events means that the request was already true, so a retry is harmless.
 * @throws Refusal `license_exists`, `license_not_found`, `license_revoked`, `license_suspended`,
 *   `license_expired`, `license_perpetual`, `expiry_in_the_past`, what `edited` and `decideOnLink` refuse, `seat_limit_reached`, `device_not_found`,
 *   `license_refunded`, `import_taken_back`, `license_not_imported`, `license_used`, `license_without_address`,
 *   `key_mailed_recently`, what `decideOnDevice`, `decideOnPersonSeat`, `decideByCustomer`, `decideOnRelay`, `fileIssued` and `fileReleased` refuse
 */
export function decideLicense(license: License, command: LicenseCommand): LicenseEvent[] {
  if (command.type === 'MintLicense' || command.type === 'ImportLicense') {
    if (license.status !== 'absent') throw new Refusal('license_exists')
    return command.type === 'MintLicense'
      ? [{ type: 'LicenseMinted', data: command.terms }, ...keyMail(command.terms, command)]
      : imported(command)
  }
  if (license.status === 'absent') throw new Refusal('license_not_found')
  if (isNamedCommand(command)) return decideOnPersonSeat(license, command)
  switch (command.type) {
    case 'ActivateDevice':
    case 'ActivateInstance':
    case 'IdentifyDevice':
    case 'DeactivateDevice':
    case 'EndSeats':
      return decideOnDevice(license, command)
    case 'IssueFile':
      return fileIssued(license, command)
    case 'ReleaseFile':
      return fileReleased(license, command)
    case 'CertifyRelay':
    case 'ReleaseRelay':
      return decideOnRelay(license, command)
    case 'RemintLicense':
      return reminted(license, command)
    case 'NoteExhausted':
      return exhausted(license, command)
    case 'NoteUsage':
      return [usageNoted(license, command)]
    case 'SendKey':
      return keySent(license, command)
    case 'RevokeLicense':
      if (license.revokedAt !== null) throw new Refusal('license_revoked')
      return [{ type: 'LicenseRevoked', data: { reason: command.reason, cause: 'person', at: command.at } }]
    case 'RenewLicense':
      return renewed(license, command)
    case 'EndPaidPeriod':
      return ended(license, command)
    case 'NoticeExpiry':
      return noticed(license, command)
    case 'LinkCustomer':
    case 'UnlinkCustomer':
    case 'FollowMerge':
      return decideOnLink(license, command)
    case 'FollowSale':
      return followed(license, command)
    case 'ReseatDevice': {
      const seat = license.seats.get(command.deviceId)
      if (seat === undefined) throw new Refusal('device_not_found')
      const { deviceId, instanceId, installId, name, platform, personId } = seat
      const device = { deviceId, instanceId, installId, name, platform, personId }
      const events = activated(license, { type: 'ActivateDevice', ...device, at: command.at })
      return events.length === 0 ? [] : [...events, ...identifiedAtFirst(seat, command.at)]
    }
    case 'EditLicense': {
      const { customerId, at } = command
      const events = edited(license, command)
      if (customerId === undefined || events.length === 0) return events
      return [...events, ...decideOnLink(license, { type: 'LinkCustomer', customerId, byAddress: true, at })]
    }
    case 'FreeSeat':
    case 'NameDevice':
      return decideByCustomer(license, command)
    case 'SuspendLicense':
    case 'ResumeLicense':
      return suspended(license, command)
    case 'NoticeSharing':
    case 'AllowSharing':
      return decideOnSharing(license, command)
    case 'UndoRevocation':
    case 'TakeBackImport':
      return undone(license, command)
    case 'EraseHolder':
      return isHeldBy(license, command.subjectId) ? [{ type: 'HolderErased', data: { at: command.at } }] : []
  }
}

function reminted(
  license: IssuedLicense,
  command: Extract<LicenseCommand, { type: 'RemintLicense' }>,
): LicenseEvent[] {
  if (license.revokedAt !== null) throw new Refusal('license_revoked')
  const { type: _, reason: __, sendKey = false, language: ___, ...data } = command
  const { keyHash, at } = data
  return [
    ...withReason({ type: 'LicenseReminted', data }, command),
    ...keyMail({ holder: license.holder, keyHash, at }, command),
  ]
}

/** Whether it has data of this person: it may be another's by now. */
const isHeldBy = ({ holder }: IssuedLicense, subjectId: string): boolean =>
  holder !== null && holder.subjectId === subjectId && (holder.email !== null || holder.name !== null)

function renewed(license: IssuedLicense, command: { expiresAt: string; at: string }): LicenseEvent[] {
  if (license.revokedAt !== null) throw new Refusal('license_revoked')
  const { expiresAt, at } = command
  // An end that was paid for replaces a term that waits, as one of a subscription does.
  if (license.startsWith !== null) return [{ type: 'LicenseRenewed', data: { expiresAt, at } }]
  if (license.expiresAt === null) throw new Refusal('license_perpetual')
  // Renewals arrive late and out of order; an older one must not shorten what a newer one gave.
  if (expiresAt <= license.expiresAt) return []
  return [{ type: 'LicenseRenewed', data: { expiresAt, at } }]
}

function ended(license: IssuedLicense, { at, mail = false }: { at: string; mail?: boolean }): LicenseEvent[] {
  const { expiresAt } = license
  const end = endOf(license)
  if (expiresAt === null || end === null || license.revokedAt !== null || at < end) return []
  if (license.endedAt === end) return []
  const type = license.onExpiry === 'fallback' ? 'LicenseFellBack' : 'LicenseExpired'
  const graceUntil = end === expiresAt ? {} : { graceUntil: end }
  return [{ type, data: { expiresAt, ...graceUntil, ...toldByMail(license, mail), at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveLicense(license: License, event: LicenseEvent): License {
  if (event.type === 'LicenseMinted' || event.type === 'LicenseImported') {
    return issuedWith(event.data)
  }
  if (license.status === 'absent') return license
  if (isOfUsage(event)) return license
  if (isOfPerson(event)) return evolveNamed(license, event)
  if (isOfSharing(event)) return { ...license, sharing: evolveSharing(license.sharing, event) }
  if (isOfRelay(event)) return { ...license, relays: evolveRelays(license.relays, event) }
  switch (event.type) {
    case 'DeviceActivated':
      return evolveNamed(evolveSeats(withFence(license, event.data), event), event)
    case 'DeviceDeactivated':
      return evolveNamed(evolveSeats(license, event), event)
    case 'DeviceIdentified':
    case 'DeviceInTwoPlaces':
    case 'DeviceNamed':
      return evolveSeats(license, event)
    case 'LicenseFileReleased':
      return evolveSeats({ ...license, ...evolveBorrowed(license, event) }, event)
    case 'LicenseFileIssued': {
      const filesByDay = withFile(license, event.data.at)
      return evolveSeats({ ...license, filesByDay, ...evolveBorrowed(license, event) }, event)
    }
    case 'SeatFreedByCustomer':
      return { ...license, freedByCustomerAt: withFree(license.freedByCustomerAt, event.data.at) }
    case 'LicenseReminted': {
      const { keyHash, displayKey, keepDevices, at } = event.data
      const reminted = { ...license, keyHash, displayKey, sharing: sharingAfterRemint(license.sharing) }
      return evolveNamed(keepDevices ? reminted : vacated(reminted, at), event)
    }
    case 'LicenseRevoked': {
      const { reason: revokedReason, at: revokedAt } = event.data
      return { ...license, revokedAt, revokedReason, revokedCause: causeOfRevocation(license, event.data) }
    }
    case 'RevocationUndone':
      return { ...license, revokedAt: null, revokedReason: null, revokedCause: null }
    case 'ImportTakenBack':
      return takenBack(license, event)
    case 'LicenseRenewed':
      return { ...license, ...termIn(event.data) }
    case 'LicenseStarted':
      return { ...license, ...termIn(event.data), sold: event.data.sold }
    case 'LicenseEdited': {
      const { reason: _, at, updatesUntil, ...changed } = event.data
      const updates = updatesUntil === undefined ? {} : { updatesUntil, updatesPaidAt: at }
      const graceSeconds = changed.graceSeconds ?? null
      return { ...license, ...changed, graceSeconds, ...termIn(changed), ...updates }
    }
    case 'LicenseSuspended':
      return { ...license, suspendedAt: event.data.at, suspendedReason: event.data.reason }
    case 'LicenseResumed':
      return { ...license, suspendedAt: null, suspendedReason: null }
    case 'CustomerLinked':
    case 'CustomerUnlinked':
      return { ...license, ...evolveLink(license, event) }
    case 'HolderErased':
      return { ...license, holder: withoutPerson(license.holder) }
    case 'KeyMailAsked':
      return { ...license, keyMailAskedAt: event.data.at }
    case 'SeatsExhausted':
      return { ...license, exhaustedAt: event.data.at }
    case 'ReasonGiven':
      return license
    case 'LicenseExpiring':
      return { ...license, noticedEnd: event.data.expiresAt, noticedDays: event.data.daysBefore }
    case 'LicenseExpired':
    case 'LicenseFellBack':
      return { ...license, endedAt: event.data.graceUntil ?? event.data.expiresAt }
    default:
      return { ...license, ...evolveBySale(license, event) }
  }
}

function takenBack(
  license: IssuedLicense,
  event: Extract<LicenseEvent, { type: 'ImportTakenBack' }>,
): IssuedLicense {
  const { at } = event.data
  const revoked = { revokedAt: at, revokedReason: takenBackReason, revokedCause: 'import_undone' } as const
  return { ...evolveNamed(vacated(license, at), event), takenBackAt: at, ...revoked }
}

const withFence = (license: IssuedLicense, { fence }: { fence?: number | undefined }): IssuedLicense =>
  fence === undefined ? license : { ...license, lastFence: fence }

function issuedWith({
  at: _,
  updatesUntil,
  floating,
  named,
  customerId,
  byAddress,
  ...terms
}: LicenseTerms): IssuedLicense {
  return {
    ...terms,
    ...linkIn({ customerId, byAddress }),
    ...termIn(terms),
    graceSeconds: terms.graceSeconds ?? null,
    status: 'issued',
    updatesUntil: updatesUntil ?? null,
    updatesPaidAt: null,
    revokedAt: null,
    revokedReason: null,
    revokedCause: null,
    refundedAt: null,
    refundedPayments: [],
    saleThrough: 0,
    sold: null,
    ...noNotice,
    endedAt: null,
    takenBackAt: null,
    suspendedAt: null,
    suspendedReason: null,
    keyMailAskedAt: null,
    freedByCustomerAt: [],
    deviceSubjects: [],
    filesByDay: null,
    borrowed: null,
    exhaustedAt: null,
    sharing: null,
    floating: floating ?? null,
    named: unassigned(named),
    lastFence: 0,
    relays: [],
    seatsUsed: 0,
    seats: new Map(),
  }
}

const withoutPerson = (holder: Holder | null): Holder | null =>
  holder && { ...holder, email: null, name: null }

/** The rules of license streams. */
export const licenses: Decider<License, LicenseCommand, 'license'> = {
  category: 'license',
  initial: absentLicense,
  decide: decideLicense,
  evolve: evolveLicense,
}
