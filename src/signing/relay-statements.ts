import { z } from 'zod'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { ChainHead } from '../domain/licenses/relay-events.ts'
import type { Relay } from '../domain/licenses/relay-seats.ts'
import type { RelayRelease, RelayRequest } from '../domain/licenses/relays.ts'
import type { FloatingSeats } from '../domain/products/key-type.ts'
import { claimsOfLicense, clocksDifferS, type Lease2Facts } from './lease2.ts'
import { type Place, readStatement } from './own-statements.ts'
import { signStatement, timeOf, verifyToken } from './paseto.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** The most characters of what a relay says: {@link mostMinutes} with seven digits each have about 1,000,000. */
export const maxRelayStatementLength = 1_000_000

/** How many minutes a relay reports at most; it leaves out the oldest ones. */
export const mostMinutes = 25_000

/** How many heads it reports at most: one for each request since the last one that was answered. */
const mostHeads = 1000

/** As many as a column of the usage holds. */
const count = z.int().min(0).max(1_000_000_000)

/**
 * What happened on a relay in a minute (Unix seconds / 60): the most seats in use, how many were taken, and how often none was
 * free. They are of the whole minute as far as it is over, so that one that is reported twice counts once.
 */
const Minute = z.tuple([count, count, count, count])
export type RelayMinute = z.infer<typeof Minute>

const reported = {
  heads: z.tuple([ChainHead], ChainHead).refine((heads) => heads.length <= mostHeads),
  minutes: z.array(Minute).max(mostMinutes).default([]),
}

/** Unknown claims are ignored, because relays of all versions say what they know. */
const RequestClaims = z.object({
  nonce: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/),
  counter: z.int().min(1),
  license_key_hash: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string().min(1).max(200),
  seats: z.int().min(1).max(100_000),
  relay_id: z.string().min(1).max(64).optional(),
  ...reported,
})

const ReleaseClaims = z.object({ relay_id: z.string().min(1).max(64), ...reported })

/** What a relay asks for: a certificate for the license of a key. */
export type ReadRelayRequest = RelayRequest & { keyHash: string; minutes: RelayMinute[] }

/** @returns undefined for a text that is no request, or that was not signed for this product by the key in it */
export function readRelayRequest(text: string, place: Place): ReadRelayRequest | undefined {
  const read = readStatement('RELAY REQUEST', text, place, RequestClaims)
  if (!read) return undefined
  const { license_key_hash: keyHash, relay_id: relayId = null, ...claims } = read.claims
  return { ...claims, keyHash, relayId, publicKey: read.publicKey }
}

/** @returns undefined for a text that is no release, or that was not signed for this product by the key in it */
export function readRelayRelease(
  text: string,
  place: Place,
): (RelayRelease & { minutes: RelayMinute[] }) | undefined {
  const read = readStatement('RELAY RELEASE', text, place, ReleaseClaims)
  if (!read) return undefined
  const { relay_id: relayId, ...claims } = read.claims
  return { ...claims, relayId, publicKey: read.publicKey }
}

type CertificateFacts = Place &
  Pick<Lease2Facts, 'licenseId' | 'keyHash' | 'status' | 'entitlements' | 'values' | 'holder'> & {
    license: Pick<IssuedLicense, 'expiresAt' | 'updatesUntil'>
    relay: Relay
    floating: FloatingSeats
  }

const assertionOf = ({ tenantId, productId }: Place): string => `keyledger:relay1:${tenantId}:${productId}`

/**
 * Signs the certificate of a relay. Its times and serial are recorded, so that it can be signed again.
 * @throws SigningFailed when the tenant's key cannot be used
 */
export function signCertificate(signer: Signer, key: ActiveKey, facts: CertificateFacts): Promise<string> {
  const { relay, floating } = facts
  const issued = unixSeconds(relay.certifiedAt)
  const claims = {
    iat: timeOf(issued),
    nbf: timeOf(issued - clocksDifferS),
    exp: timeOf(unixSeconds(relay.endsAt)),
    serial: relay.serial,
    nonce: relay.nonce,
    relay_id: relay.relayId,
    pk: relay.publicKey,
    license_id: facts.licenseId,
    license_key_hash: facts.keyHash,
    seats: relay.seats,
    seat_seconds: floating.seatSeconds,
    scope: floating.scope,
    ...claimsOfLicense(facts),
  }
  return signStatement(signer, facts.tenantId, key, claims, assertionOf(facts))
}

const time = z.iso.datetime().transform((moment) => Date.parse(moment))

const CertificateClaims = z.object({
  iat: time,
  nbf: time,
  exp: time,
  serial: z.int(),
  nonce: z.string(),
  relay_id: z.string(),
  pk: z.string(),
  license_id: z.string(),
  license_key_hash: z.string(),
  seats: z.int().min(1),
  seat_seconds: z.int().min(1),
  scope: z.enum(['device', 'process', 'user']),
  status: z.enum(['active', 'fallback']),
  entitlements: z.record(z.string(), z.unknown()),
  license_expires_at: z.iso.datetime().nullable(),
  updates_until: z.iso.datetime().optional(),
  holder: z.object({ name: z.string().nullable(), email: z.string().nullable() }).optional(),
})

/** What a certificate says; its times are in milliseconds. */
export type CertificateClaims = z.infer<typeof CertificateClaims>

/**
 * What a certificate says.
 * @param keys the raw public keys of the tenant, base64, by `kid`
 * @returns undefined for what none of the keys signed as a certificate for this product
 */
export function readCertificate(
  token: string,
  keys: Readonly<Record<string, string>>,
  place: Place,
): CertificateClaims | undefined {
  const read = verifyToken(token, assertionOf(place), (beside) => {
    const { data } = z.object({ kid: z.string() }).safeParse(beside)
    const key = data && Object.hasOwn(keys, data.kid) ? keys[data.kid] : undefined
    return key === undefined ? undefined : Buffer.from(key, 'base64')
  })
  return CertificateClaims.safeParse(read?.message).data
}
