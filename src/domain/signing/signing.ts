import type { Decider } from '../decider.ts'
import type { SigningEvent, SigningKey } from './events.ts'

/** A tenant's signing keys, oldest first. Each signs until the next one begins to. */
export type SigningKeys = readonly SigningKey[]

export type SigningCommand = {
  type: 'PublishFirstKey' | 'RotateKey'
  tenantId: string
  key: Omit<SigningKey, 'signsFrom'>
  at: string
}

export const noSigningKeys: SigningKeys = []

/** How long clients may cache a keyset. */
export const keysetSeconds = 300

/** How long the signature of a product's settings is valid. */
export const settingsSeconds = 86_400

/** A response that was in transit when a lease length changed may still use the former length. */
const onTheirWayMs = 60_000

/** Whether the command would publish its key; otherwise no key needs to be generated. */
export function wantsKey(keys: SigningKeys, type: SigningCommand['type'], at: string): boolean {
  const last = keys.at(-1)
  return last === undefined || (type === 'RotateKey' && last.signsFrom <= at)
}

/**
 * The first key signs at once, since no client has cached a keyset without it. A later key signs once every
 * cached keyset holds it. While a published key does not sign yet, a rotation changes nothing: that key is
 * its result.
 */
export function decideSigning(keys: SigningKeys, command: SigningCommand): SigningEvent[] {
  const { type, tenantId, key, at } = command
  if (!wantsKey(keys, type, at)) return []
  const signsFrom = keys.length === 0 ? at : later(at, keysetSeconds * 1000)
  return [{ type: 'SigningKeyPublished', data: { ...key, tenantId, signsFrom, at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveSigning(keys: SigningKeys, { data }: SigningEvent): SigningKeys {
  const { tenantId: _, at: __, ...key } = data
  return [...keys, key]
}

/** The key that signs at a moment; the first one if the clock is behind. */
export const signerAt = (keys: SigningKeys, now: string): SigningKey | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0]

/** The length of a product's leases in a period; `until` is null for the present length. */
export type LeaseLength = { seconds: number; from: string; until: string | null }

export type KeyStatus = 'next' | 'signing' | 'retiring' | 'retired'

/** The state of a key at a moment, and until when it is published; null while no later key replaces it. */
export type KeyState = SigningKey & {
  status: KeyStatus
  signsUntil: string | null
  publishedUntil: string | null
}

/**
 * Every key with its state. A key that no longer signs stays published until the last thing that it may have
 * signed has expired: settings after 24 hours, and a lease after the lease length of its product when it was
 * issued.
 */
export function keyStates(keys: SigningKeys, leases: readonly LeaseLength[], now: string): KeyState[] {
  const signing = signerAt(keys, now)
  return keys.map((key, index) => {
    const signsUntil = keys[index + 1]?.signsFrom ?? null
    const publishedUntil = signsUntil === null ? null : lastSignatureEnds(key.signsFrom, signsUntil, leases)
    const over = publishedUntil !== null && publishedUntil <= now
    const status = key === signing ? 'signing' : key.signsFrom > now ? 'next' : over ? 'retired' : 'retiring'
    return { ...key, status, signsUntil, publishedUntil }
  })
}

function lastSignatureEnds(from: string, until: string, leases: readonly LeaseLength[]): string {
  let last = later(until, settingsSeconds * 1000)
  for (const lease of leases) {
    const changed = lease.until === null ? until : later(lease.until, onTheirWayMs)
    if (lease.from >= until || changed <= from) continue
    const end = later(changed < until ? changed : until, lease.seconds * 1000)
    if (end > last) last = end
  }
  return last
}

const later = (moment: string, milliseconds: number): string =>
  new Date(Date.parse(moment) + milliseconds).toISOString()

/** The rules of signing streams, one for each tenant. */
export const signingKeys: Decider<SigningKeys, SigningCommand, 'signing'> = {
  category: 'signing',
  initial: noSigningKeys,
  decide: decideSigning,
  evolve: evolveSigning,
}
