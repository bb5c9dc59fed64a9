import type { Keyset, Place } from '../keyset.ts'
import {
  isSameMachine,
  type Lease2,
  type Lease2Refusal,
  type LeasedDevice,
  readLease2,
  secondsFrom,
} from '../lease2.ts'
import { readStatement } from '../paseto.ts'
import type { OfflineFacts } from './facts.ts'

/** What signed texts are read with. */
export type Given = { place: Place; keyset: Keyset; device: LeasedDevice }

/**
 * Why a text was not taken. `not_asked`: it answers another request than the last one of this device. `outdated`: it is
 * older than what the device has, or was given back. `another_device`: it was made for another machine.
 */
export type FileRefusal =
  | Exclude<Lease2Refusal, 'another_license' | 'another_instance'>
  | 'not_asked'
  | 'outdated'

export type ReadFile = { lease: Lease2; nonce: string; licenseKeyHash: string }

/**
 * Reads a license file: signed for this product, for this machine, and in answer to the request that `facts.asked` holds.
 * @param now Unix seconds; 0 leaves its times to the caller
 */
export function readFile(
  token: string,
  { asked, file: held, released }: OfflineFacts,
  { place, keyset, device }: Given,
  now: number,
): { ok: true; file: ReadFile } | { ok: false; reason: FileRefusal } {
  const read = readLease2(token, place, keyset)
  if (!read.ok) return { ok: false, reason: read.reason as FileRefusal }
  const { lease } = read
  const refused = (reason: FileRefusal) => ({ ok: false, reason }) as const
  if (!lease.file) return refused('malformed')
  if (!lease.device || !isSameMachine(lease.device, device)) return refused('another_device')
  if (lease.serial <= released) return refused('outdated')
  // The file in use may be read in again.
  const wanted = held?.token === token ? held : asked
  if (wanted?.nonce !== lease.file.nonce || wanted.licenseKeyHash !== lease.licenseKeyHash)
    return refused('not_asked')
  if (now > 0 && now < lease.notBefore) return refused('not_yet')
  if (now > lease.expiresAt) return refused('over')
  const { nonce, licenseKeyHash } = wanted
  return { ok: true, file: { lease, nonce, licenseKeyHash } }
}

/** The file in use, if it can be read on this machine: whether it is over or was given back is decided later. */
export function readHeld(facts: OfflineFacts, given: Given): ReadFile | undefined {
  const read = facts.file && readFile(facts.file.token, { ...facts, released: 0 }, given, 0)
  return read?.ok ? read.file : undefined
}

export type Withdrawn = { files: readonly string[]; serial: number; issuedAt: number }

/** Reads a list of withdrawn files that was signed for this product. */
export function readWithdrawn(
  token: string,
  { place, keyset }: Pick<Given, 'place' | 'keyset'>,
): { ok: true; list: Withdrawn } | { ok: false } {
  const read = readStatement(token, `keyledger:withdrawn1:${place.tenantId}:${place.productId}`, keyset)
  if (typeof read === 'string') return { ok: false }
  const { files, serial, iat } = read.claims
  const issuedAt = secondsFrom(iat)
  if (!Array.isArray(files) || typeof serial !== 'number' || issuedAt === undefined) return { ok: false }
  return { ok: true, list: { files: files.filter((id) => typeof id === 'string'), serial, issuedAt } }
}
