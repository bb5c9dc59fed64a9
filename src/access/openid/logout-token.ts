import type { JWTVerifyGetKey } from 'jose'
import type { ServerMetadata } from 'openid-client'
import { z } from 'zod'
import { NotProven, ProviderUnreachable } from './errors.ts'
import type { GuardedFetch } from './fetch.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'

/** A logout token is used at once; an older one is refused. */
const maxAgeSeconds = 300
const toleranceSeconds = 30

/** How long a token has to be remembered, so that it is not used twice (milliseconds). */
export const logoutTokenMs = (maxAgeSeconds + 2 * toleranceSeconds) * 1000

/** Whose sessions end: those of a person, or one session at the provider. */
export type LoggedOut = { jti: string; subject: string | undefined; sid: string | undefined }

const text = z.string().min(1).max(1000)

/** @see https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation */
const LogoutClaims = z
  .object({
    jti: text,
    sub: text.optional(),
    sid: text.optional(),
    events: z.looseObject({ [event]: z.looseObject({}) }),
    // An ID token has one.
    nonce: z.never().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'neither sub nor sid')

/** The keys that a provider signs with. They are read when a token needs one that is not known, and not too often. */
export type KeySet = JWTVerifyGetKey

export async function keySetOf({ jwks_uri: at }: ServerMetadata, fetch: GuardedFetch): Promise<KeySet> {
  const { createRemoteJWKSet, customFetch } = await import('jose')
  if (at === undefined) throw new ProviderUnreachable('the provider publishes no keys')
  return createRemoteJWKSet(new URL(at), { [customFetch]: fetch })
}

/** Verifies a token of OpenID Connect Back-Channel Logout. @throws NotProven, ProviderUnreachable */
export async function readLogoutToken(
  { issuer, id_token_signing_alg_values_supported: signedBy }: ServerMetadata,
  clientId: string,
  token: string,
  keys: KeySet,
): Promise<LoggedOut> {
  const { jwtVerify } = await import('jose')
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    // A secret that both know proves nothing here: only what the provider alone can sign counts.
    algorithms: (signedBy ?? ['RS256']).filter((name) => /^(?:RS|PS|ES|Ed)/.test(name)),
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
    maxTokenAge: maxAgeSeconds,
    clockTolerance: toleranceSeconds,
  }).catch((error: unknown) => {
    if (error instanceof ProviderUnreachable) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'not verified'
    throw new NotProven(code, { cause: error })
  })
  const claims = LogoutClaims.safeParse(payload)
  if (!claims.success) throw new NotProven('not a logout token')
  const { jti, sub, sid } = claims.data
  return { jti, subject: sub, sid }
}
