import type { Decider } from '../decider.ts'
import type { PreparedKey, SigningEvent, SigningKey } from './events.ts'

/** A tenant's signing keys, oldest first. Each signs until the next one begins to. */
export type SigningKeys = readonly SigningKey[]

export type Signing = {
  keys: SigningKeys
  /** The key that the next rotation lets sign, and since when it is published. */
  prepared: (PreparedKey & { at: string }) | null
}

export type SigningCommand = {
  type: 'PrepareKey' | 'PublishFirstKey' | 'RotateKey'
  tenantId: string
  /** A new key; null when {@link wantsKey} needs none. */
  key: PreparedKey | null
  at: string
}

export const noSigning: Signing = { keys: [], prepared: null }

/** How long clients may cache a keyset. */
export const keysetSeconds = 300

/** How long the signature of a product's settings is valid. */
export const settingsSeconds = 86_400

/** A response that was in transit when a lease length changed may still use the former length. */
const onTheirWayMs = 60_000

/** Whether the command needs a key that is not prepared yet; otherwise none has to be generated. */
export const wantsKey = (signing: Signing, type: SigningCommand['type'], at: string): boolean =>
  signing.prepared === null && hasEffect(signing, type, at)

function hasEffect({ keys, prepared }: Signing, type: SigningCommand['type'], at: string): boolean {
  if (type === 'PrepareKey') return prepared === null
  const last = keys.at(-1)
  return last === undefined || (type === 'RotateKey' && last.signsFrom <= at)
}

/**
 * A prepared key is published and does not sign; a tenant has at most one. The first key signs at once, since no client has
 * cached a keyset without it. A later key signs once every cached keyset holds it, which for one that was prepared long enough
 * ago is at once. While a published key is about to sign, a rotation changes nothing: that key is its result.
 */
export function decideSigning(signing: Signing, command: SigningCommand): SigningEvent[] {
  const { type, tenantId, at } = command
  if (!hasEffect(signing, type, at)) return []
  const { prepared } = signing
  const key = prepared ? keyOf(prepared) : command.key
  if (!key) throw new Error('a command that needs a key brings one')
  if (type === 'PrepareKey') return [{ type: 'SigningKeyPrepared', data: { ...key, tenantId, at } }]
  const signsFrom = signing.keys.length === 0 ? at : knownFrom(signing, at)
  const since = prepared && { preparedAt: prepared.at }
  return [{ type: 'SigningKeyPublished', data: { ...key, tenantId, signsFrom, at, ...since } }]
}

const keyOf = ({ kid, publicKey, secretName }: PreparedKey): PreparedKey => ({ kid, publicKey, secretName })

/** When every cached keyset holds the next key; after the key before it began to sign. */
function knownFrom({ keys, prepared }: Signing, at: string): string {
  const known = later(prepared?.at ?? at, keysetSeconds * 1000)
  const last = keys.at(-1)
  const soonest = last && last.signsFrom >= at ? later(last.signsFrom, 1) : at
  if (known > soonest) return known
  return soonest
}

/** Never refuses: what is recorded has happened. */
export function evolveSigning(signing: Signing, { type, data }: SigningEvent): Signing {
  const key = keyOf(data)
  if (type === 'SigningKeyPrepared') return { ...signing, prepared: { ...key, at: data.at } }
  const prepared = signing.prepared?.kid === data.kid ? null : signing.prepared
  return { keys: [...signing.keys, { ...key, signsFrom: data.signsFrom }], prepared }
}

/** The keys that sign nothing any more, nor anything that is on its way, so that their seeds can be destroyed. */
export const spentKeys = (keys: SigningKeys, now: string): SigningKey[] =>
  keys.filter((_, index) => {
    const next = keys[index + 1]
    return next !== undefined && later(next.signsFrom, onTheirWayMs) <= now
  })

/** The key that signs at a moment; the first one if the clock is behind. */
export const signerAt = (keys: SigningKeys, now: string): SigningKey | undefined =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0]

/** The length of a product's leases in a period; `until` is null for the present length. */
export type LeaseLength = { seconds: number; from: string; until: string | null }

export type KeyStatus = 'next' | 'signing' | 'retiring' | 'retired'

/** The state of a key at a moment, and until when it is published; null while no later key replaces it. */
export type KeyState = PreparedKey & {
  status: KeyStatus
  /** Null for a prepared key. */
  signsFrom: string | null
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

/** The state of a key that is prepared. */
export const preparedState = (key: PreparedKey): KeyState => ({
  ...key,
  status: 'next',
  signsFrom: null,
  signsUntil: null,
  publishedUntil: null,
})

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
export const signingKeys: Decider<Signing, SigningCommand, 'signing'> = {
  category: 'signing',
  initial: noSigning,
  decide: decideSigning,
  evolve: evolveSigning,
}
