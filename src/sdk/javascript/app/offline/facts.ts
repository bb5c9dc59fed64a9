import { hexToBytes } from '@noble/hashes/utils.js'
import { publicKeyOf } from '../../ed25519.ts'
import { isField, isRecord, isSeconds, type Place } from '../../keyset.ts'
import { isSameMachine, type LeasedDevice } from '../../lease2.ts'
import { base64url } from '../../paseto.ts'
import { randomHex } from '../ports.ts'
import { type LeaseOfToken, readToken } from '../proof.ts'
import { readWithdrawn, type Withdrawn } from './withdrawn.ts'

/** What an app has to remember of license files. What was signed is verified whenever it is read. */
export type OfflineFacts = {
  /** The seed of the device's own signing key, in hex. Whoever has it can give the device's license file back. */
  seed: string
  /** The public part of that key, base64url. */
  deviceKey: string
  /** Of the last request. */
  counter: number
  /** The last request, while its answer is awaited. */
  asked?: { nonce: string; licenseKeyHash: string } | undefined
  /** The file that was taken last. */
  file?: LeaseOfToken | undefined
  /** The newest list of withdrawn files. */
  withdrawn?: Withdrawn | undefined
  /** The serial of the last file that was given back or taken away: it and older ones are not used again. */
  released: number
}

const withKey = <More>(seed: string, more: More) => ({
  seed,
  deviceKey: base64url(publicKeyOf(hexToBytes(seed))),
  ...more,
})

export const newOfflineFacts = (): OfflineFacts => withKey(randomHex(32), { counter: 0, released: 0 })

/** Reads what was stored. @returns undefined for what is not usable */
export function offlineFactsFrom(
  value: unknown,
  place: Place,
  keys: Readonly<Record<string, string>>,
): OfflineFacts | undefined {
  if (!isRecord(value)) return undefined
  const { seed, counter, released, asked } = value
  if (typeof seed !== 'string' || !/^[0-9a-f]{64}$/.test(seed)) return undefined
  if (!isSeconds(counter) || !isSeconds(released)) return undefined
  const { nonce, licenseKeyHash } = isRecord(asked) ? asked : {}
  const read = readToken(tokenOf(value.file), place, keys)
  const withdrawn = readWithdrawn(tokenOf(value.withdrawn), place, keys)
  return withKey(seed, {
    counter,
    released,
    asked: isField(nonce) && isField(licenseKeyHash) ? { nonce, licenseKeyHash } : undefined,
    file: 'lease' in read && read.lease.file ? read.lease : undefined,
    withdrawn,
  })
}

const tokenOf = (value: unknown): string =>
  isRecord(value) && typeof value.token === 'string' ? value.token : ''

/** The file that the device may use: it was not given back. Whether it has ended or was withdrawn is decided with the state. */
export const fileIn = (facts: OfflineFacts | undefined): LeaseOfToken | undefined =>
  facts?.file && facts.file.serial > facts.released ? facts.file : undefined

/**
 * The machine that asks for a file: one that has no id of its own, as some containers, is known by the key in its storage.
 * @param device undefined when the app says nothing of it
 */
export const machineOf = (
  { deviceKey }: Pick<OfflineFacts, 'deviceKey'>,
  device: LeasedDevice | undefined,
): LeasedDevice => device ?? { machineHash: deviceKey, components: {} }

/** Whether a file was made for this machine. */
export const isForMachine = (
  file: LeaseOfToken,
  offline: Pick<OfflineFacts, 'deviceKey'>,
  device: LeasedDevice | undefined,
): boolean => file.device !== null && isSameMachine(file.device, machineOf(offline, device))
