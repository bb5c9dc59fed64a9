import { z } from 'zod'
import { unixSeconds } from '../domain/licenses/expiry.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { ChainHead } from '../domain/licenses/relay-events.ts'
import type { Relay } from '../domain/licenses/relay-seats.ts'
import type { RelayRelease, RelayRequest } from '../domain/licenses/relays.ts'
import type { FloatingSeats } from '../domain/products/key-type.ts'
import { certificateAssertion } from './certificate.ts'
import { claimsOfLicense, clocksDifferS, type Lease2Facts } from './lease2.ts'
import { type Place, readStatement } from './own-statements.ts'
import { signStatement, timeOf } from './paseto.ts'
import { mostHeads, mostMinutes } from './relay-bounds.ts'
import type { ActiveKey, Signer } from './signer.ts'

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
  return signStatement(signer, facts.tenantId, key, claims, certificateAssertion(facts))
}
