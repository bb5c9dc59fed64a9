import { isField, isRecord, isSeconds, type Place } from '../keyset.ts'
import { licenseKeyHash } from '../license-key.ts'
import { verifySettings } from '../settings.ts'
import { type OfflineFacts, offlineFactsFrom } from './offline/facts.ts'
import { type Proof, verifyProof } from './proof.ts'
import { type NotCovered, notCoveredFrom } from './updates.ts'

export type HeldLicense = {
  key: string
  instanceId: string
  /** Undefined when what was stored does not verify. */
  proof: Proof | undefined
  /** As the server said beside the lease; not signed, for display. */
  expiresAt: number | null
  /** The end of its grace, likewise. */
  graceUntil?: number | undefined
  /** Why the server gave no newer lease to a build. */
  notCovered?: NotCovered | undefined
  /** Of a floating seat, as the server said beside the lease, which ends with the seat. */
  seat?: HeldSeat | undefined
  /** The address of the relay that gave the seat; undefined for the vendor's server. */
  relay?: string | undefined
  /** The floating seat was given back, and the next start takes one again. */
  isAway?: boolean | undefined
}

/** The fence tells a seat from the one that the device takes after it. */
export type HeldSeat = { fence: number }

export type HeldSettings = {
  freeTierEnabled: boolean
  trialDurationDays?: number | undefined
  /** The signed answer, to be verified again after it was stored. */
  signed?: unknown
  /** When it was signed and until when its signature is valid; 0 when nothing was signed. */
  issuedAt: number
  expiresAt: number
}

type Trial = {
  startedAt: number
  /** The server says that this machine has used its trial up. */
  used: boolean
  /** Whether the server knows of it. */
  reported: boolean
}

/** All that an app has to remember. */
export type Facts = {
  /** A random id of this install, the same for as long as the storage exists. */
  installId: string
  /** The public keys that are known, by `kid`. */
  keys: Readonly<Record<string, string>>
  license?: HeldLicense | undefined
  /** The instances that were given up in the second of `signedAt`: an answer of that second must not bring them back. */
  left: readonly string[]
  settings?: HeldSettings | undefined
  trial?: Trial | undefined
  /** Of license files; undefined before the device has asked for one. */
  offline?: OfflineFacts | undefined
  /** The time of the newest proof or file, in Unix seconds. */
  signedAt: number
  /**
   * The greatest time that was seen, from what was signed and from the device's clock, since the newest lease or file was
   * taken. A newer one begins anew, so that a clock that was once wrong by years does not end every lease after it.
   */
  seen: number
}

export const newFacts = (installId: string, keys: Facts['keys'] = {}): Facts => ({
  installId,
  keys,
  left: [],
  signedAt: 0,
  seen: 0,
})

const format = 1

/** The text to store. */
export const textOf = (facts: Facts): string => JSON.stringify({ format, ...facts })

/**
 * Reads what was stored, and verifies all signatures again: the storage can be edited by the user of the device.
 * @returns undefined when it is not usable at all
 */
export function factsFrom(text: string | undefined, place: Place, pinned: Facts['keys']): Facts | undefined {
  const stored = parsed(text)
  if (!isRecord(stored) || stored.format !== format || !isField(stored.installId)) return undefined
  if (!isSeconds(stored.signedAt) || !isSeconds(stored.seen)) return undefined
  const keys = { ...keysFrom(stored.keys), ...pinned }
  return {
    installId: stored.installId,
    keys,
    license: licenseFrom(stored.license, place, keys),
    left: Array.isArray(stored.left) ? stored.left.filter(isField) : [],
    settings: settingsFrom(stored.settings, place, keys),
    trial: trialFrom(stored.trial),
    offline: offlineFactsFrom(stored.offline, place, keys),
    signedAt: stored.signedAt,
    seen: stored.seen,
  }
}

/** What was stored as JSON; undefined when it is none. */
function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

const keysFrom = (value: unknown): Facts['keys'] =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => isField(entry[1])),
      )
    : {}

function licenseFrom(value: unknown, place: Place, keys: Facts['keys']): HeldLicense | undefined {
  if (!isRecord(value) || !isField(value.key) || !isField(value.instanceId)) return undefined
  const { key, instanceId, proof, expiresAt, graceUntil, relay } = value
  const verified = verifyProof(proof, { ...place, licenseKeyHash: licenseKeyHash(key), instanceId }, keys)
  return {
    key,
    instanceId,
    proof: 'proof' in verified ? verified.proof : undefined,
    expiresAt: isSeconds(expiresAt) ? expiresAt : null,
    graceUntil: isSeconds(graceUntil) ? graceUntil : undefined,
    notCovered: notCoveredFrom(value.notCovered),
    seat: seatFrom(value.seat),
    relay: isField(relay) ? relay : undefined,
    isAway: value.isAway === true || undefined,
  }
}

/** The floating seat in an answer or in what was stored; undefined for a seat that lasts until it is given back. */
export const seatFrom = (value: unknown): HeldSeat | undefined =>
  isRecord(value) && isSeconds(value.fence) ? { fence: value.fence } : undefined

/** A trial length that was signed is taken from its signed answer, not from what stands beside it. */
function settingsFrom(value: unknown, place: Place, keys: Facts['keys']): HeldSettings | undefined {
  if (!isRecord(value) || typeof value.freeTierEnabled !== 'boolean') return undefined
  const plain = { freeTierEnabled: value.freeTierEnabled, issuedAt: 0, expiresAt: 0 }
  if (!isRecord(value.signed)) return plain
  const verified = verifySettings(value.signed, place, { keys }, 0)
  if (!verified.ok) return undefined
  const { issued_at: issuedAt, expires_at: expiresAt } = value.signed
  if (!isSeconds(issuedAt) || !isSeconds(expiresAt)) return undefined
  // After the signature is over, an unsigned answer may have changed the free tier alone.
  const settings =
    value.issuedAt === 0 ? { ...verified.settings, ...plain } : { ...verified.settings, issuedAt, expiresAt }
  return { ...settings, signed: value.signed }
}

const trialFrom = (value: unknown): Trial | undefined =>
  isRecord(value) && isSeconds(value.startedAt)
    ? { startedAt: value.startedAt, used: value.used === true, reported: value.reported === true }
    : undefined
