import type { Place } from '../../keyset.ts'
import type { LeasedDevice } from '../../lease2.ts'
import type { TokenDoubt } from '../../paseto.ts'
import type { Facts } from '../facts.ts'
import { readToken } from '../proof.ts'
import type { Taken } from '../take.ts'
import { isForMachine, type OfflineFacts } from './facts.ts'
import { readWithdrawn } from './withdrawn.ts'

/**
 * Why a text was not taken. `not_asked`: it answers another request than the last one of this device. `outdated`: it is
 * older than what the device has, or was given back. `another_device`: it was made for another machine. `not_yet`: the clock of
 * the machine is before it.
 */
export type FileDoubt = TokenDoubt | 'another_device' | 'outdated' | 'not_asked' | 'not_yet' | 'over'

type CarriedTo = { place: Place; device: LeasedDevice | undefined }

/**
 * Takes a text that was carried to the device: the license file that answers its last request, or a list of withdrawn files.
 * @param now Unix seconds by the clock of the device
 */
export function takeCarried(
  facts: Facts & { offline: OfflineFacts },
  token: string,
  { place, device }: CarriedTo,
  now: number,
): Taken | { doubt: FileDoubt } {
  const { offline, keys } = facts
  const list = readWithdrawn(token, place, keys)
  if (list) {
    if (offline.withdrawn && offline.withdrawn.serial > list.serial) return { doubt: 'outdated' }
    const seen = Math.max(facts.seen, list.issuedAt)
    return { facts: { ...facts, offline: { ...offline, withdrawn: list }, seen }, as: 'fresh' }
  }
  const read = readToken(token, place, keys)
  if ('doubt' in read) return read
  const { lease: file } = read
  if (!file.file) return { doubt: 'malformed' }
  if (!isForMachine(file, offline, device)) return { doubt: 'another_device' }
  if (file.serial <= offline.released) return { doubt: 'outdated' }
  if (token === offline.file?.token) return { facts, as: 'same' }
  const { nonce, licenseKeyHash } = offline.asked ?? {}
  if (nonce !== file.file.nonce || licenseKeyHash !== file.licenseKeyHash) return { doubt: 'not_asked' }
  if (now < file.notBefore) return { doubt: 'not_yet' }
  if (now > file.expiresAt) return { doubt: 'over' }
  const signedAt = Math.max(facts.signedAt, file.issuedAt)
  const left = signedAt > facts.signedAt ? [] : facts.left
  const seen = Math.max(file.issuedAt, now)
  return {
    facts: { ...facts, offline: { ...offline, file, asked: undefined }, signedAt, left, seen },
    as: 'fresh',
  }
}
