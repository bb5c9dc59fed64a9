import type { generateAuthenticationOptions, generateRegistrationOptions } from '@simplewebauthn/server'
import type { Pool } from 'pg'
import { z } from 'zod'
import { boundedJson } from '../domain/json-bounds.ts'
import type { Passkey } from './passkeys.ts'

/** Loaded with the first passkey, because it would take a fifth of the start-up time. */
const webAuthn = () => import('@simplewebauthn/server')

/** The relying party: browsers bind each passkey to its id and offer it nowhere else. */
export type RelyingParty = { id: string; name: string; origin: string }

/**
 * The relying party of a base URL. Undefined where browsers do not allow passkeys: without TLS, except on this
 * machine, and on IP addresses.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(baseUrl)
  const isName = /[a-z]/i.test(hostname) && !hostname.startsWith('[')
  const secure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isName && secure ? { id: hostname, name: 'keyledger', origin } : undefined
}

/** EdDSA, ES256 and RS256: supported by authenticators, and by Node without an experimental warning. */
const algorithms = [-8, -7, -257]

type RegistrationOptions = Awaited<ReturnType<typeof generateRegistrationOptions>>
type AuthenticationOptions = Awaited<ReturnType<typeof generateAuthenticationOptions>>

/** Options for creating a passkey: discoverable, and with user verification. */
export async function registrationOptions(
  party: RelyingParty,
  member: { memberId: string; email: string; label: string },
  existing: readonly Pick<Passkey, 'credentialId' | 'transports'>[],
): Promise<RegistrationOptions> {
  const { generateRegistrationOptions } = await webAuthn()
  return generateRegistrationOptions({
    rpID: party.id,
    rpName: party.name,
    userID: new TextEncoder().encode(member.memberId),
    userName: member.label,
    userDisplayName: member.email,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: existing.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
  })
}

/**
 * Options for signing in with a passkey.
 * @param allowed the accepted passkeys; any passkey of this site when absent
 */
export async function authenticationOptions(
  party: RelyingParty,
  allowed?: readonly Pick<Passkey, 'credentialId' | 'transports'>[],
): Promise<AuthenticationOptions> {
  const { generateAuthenticationOptions } = await webAuthn()
  return generateAuthenticationOptions({
    rpID: party.id,
    userVerification: 'required',
    ...(allowed && {
      allowCredentials: allowed.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    }),
  })
}

const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/)
  .max(20_000)
const credential = {
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
}
const Registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(50)).max(10).default([]),
  }),
})
const Authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
})

export type PresentedPasskey = z.infer<typeof Authentication>
export type NewPasskey = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>

/** Parses a browser's answer; undefined for an invalid one. */
export function parsePresented(text: string): PresentedPasskey | undefined {
  return Authentication.safeParse(parseJson(text)).data
}

/** Verifies a new passkey against its challenge; undefined when the proof is invalid. */
export async function checkNewPasskey(
  party: RelyingParty,
  text: string,
  challenge: string,
): Promise<NewPasskey | undefined> {
  const { data } = Registration.safeParse(parseJson(text))
  if (!data) return undefined
  const { verifyRegistrationResponse } = await webAuthn()
  const verified = await verifyRegistrationResponse({
    response: data,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined)
  if (!verified?.verified) return undefined
  const { id, publicKey, counter } = verified.registrationInfo.credential
  return {
    credentialId: id,
    publicKey: Buffer.from(publicKey),
    counter,
    transports: data.response.transports,
  }
}

/**
 * Verifies a passkey's signature of a challenge, with user verification.
 * @returns the authenticator's new counter, or undefined when the proof is invalid
 */
export async function checkPasskey(
  party: RelyingParty,
  presented: PresentedPasskey,
  passkey: Passkey,
  challenge: string,
): Promise<number | undefined> {
  const { userHandle, ...response } = presented.response
  // If the browser sends a user, it must be the passkey's owner.
  if (userHandle && Buffer.from(userHandle, 'base64url').toString() !== passkey.memberId) return undefined
  const { verifyAuthenticationResponse } = await webAuthn()
  const verified = await verifyAuthenticationResponse({
    response: { ...presented, response },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(passkey.publicKey),
      counter: passkey.counter,
      transports: passkey.transports,
    },
  }).catch(() => undefined)
  return verified?.verified ? verified.authenticationInfo.newCounter : undefined
}

/** A credential has about twenty fields. */
const parseJson = (text: string): unknown => boundedJson(text, 200)

/** How long a challenge for a passkey is valid. */
const lifetimeMs = 5 * 60_000

/** What a challenge is signed for; a challenge for one purpose is not valid for another. */
export type ChallengePurpose = 'sign in' | 'confirm' | 'new passkey' | `welcome ${string}`

export type ChallengeOf = { sessionHash: string; purpose: ChallengePurpose }

/** Stores a session's challenge for a passkey. An earlier challenge for the same purpose is replaced. */
export async function keepChallenge(
  db: Pool,
  { sessionHash, purpose }: ChallengeOf,
  challenge: string,
  now: Date,
): Promise<void> {
  await db.query(
    `insert into vault.challenges (session_hash, purpose, challenge, expires_at) values ($1, $2, $3, $4)
     on conflict (session_hash, purpose) do update
     set challenge = excluded.challenge, expires_at = excluded.expires_at`,
    [sessionHash, purpose, challenge, new Date(now.getTime() + lifetimeMs)],
  )
}

/**
 * Deletes and returns a challenge before anything is verified against it: of two concurrent requests, in any
 * process, only one gets it.
 * @returns undefined when there is none, it was used, or it has expired
 */
export async function takeChallenge(
  db: Pool,
  { sessionHash, purpose }: ChallengeOf,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await db.query<{ challenge: string; fresh: boolean }>(
    `delete from vault.challenges where session_hash = $1 and purpose = $2
     returning challenge, expires_at > $3 as fresh`,
    [sessionHash, purpose, now],
  )
  return rows[0]?.fresh ? rows[0].challenge : undefined
}
