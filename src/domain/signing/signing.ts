import type { Decider } from '../decider.ts'
import type { SigningEvent, SigningKey } from './events.ts'

/** A tenant's signing keys, oldest first. Each signs until the next one does. */
export type SigningKeys = readonly SigningKey[]

export type SigningCommand = {
  type: 'PublishFirstKey' | 'RotateKey'
  tenantId: string
  key: Omit<SigningKey, 'signsFrom'>
  at: string
}

export const noSigningKeys: SigningKeys = []

/** For so long a keyset may be kept by whoever has fetched it. */
export const keysetSeconds = 300

/** For so long the signature of a product's settings is good. */
export const settingsSeconds = 86_400

/** An answer that was on its way when a lease length changed may still have been signed by the former one. */
const onTheirWayMs = 60_000

/** Whether the command would publish its key: otherwise it has no use for one. */
export function wantsKey(keys: SigningKeys, type: SigningCommand['type'], at: string): boolean {
  const last = keys.at(-1)
  return last === undefined || (type === 'RotateKey' && last.signsFrom <= at)
}

/**
 * The first key signs at once, since no keyset without it has been kept; a later one when every kept keyset has it.
 * While one is published that does not sign yet, a rotation changes nothing: it is the one that was asked for.
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

/** The key that signs at a moment; on a clock that is behind, the first. */
export const signerAt = (keys: SigningKeys, now: string): SigningKey | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0]

/** How long the leases of a product were, from a moment to another; null: to this day. */
export type LeaseLength = { seconds: number; from: string; until: string | null }

export type KeyStatus = 'next' | 'signing' | 'retiring' | 'retired'

/** What has become of a key at a moment, and until when it is published; null while nothing has taken its place. */
export type KeyState = SigningKey & {
  status: KeyStatus
  signsUntil: string | null
  publishedUntil: string | null
}

/**
 * Every key with its state. A key that signs no more stays published until the last thing it may have signed has
 * ended: settings are good for 24 hours, and a lease for as long as its product's leases were when it was made.
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
