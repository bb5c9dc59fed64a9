import type { Configuration, CustomFetchOptions } from 'openid-client'
import { sha256 } from '../../credentials/sha256.ts'
import type { Claims } from '../../domain/sign-in-providers/claims.ts'
import { faultOfUrl, type Resolve, type TargetRules } from '../../webhooks/targets.ts'
import { NotProven, ProviderUnreachable } from './errors.ts'
import { createGuardedFetch, type GuardedFetch, requestLimitMs } from './fetch.ts'
import { type KeySet, keySetOf, type LoggedOut, readLogoutToken } from './logout-token.ts'

/** keyledger as a client of a provider. */
export type ProviderClient = { issuer: string; clientId: string; clientSecret: string }

/** What an answer of the provider has to fit to. */
type Bound = { redirectUri: string; state: string; nonce: string; verifier: string }

/** A person as the provider knows them, by an ID token that was verified. */
export type Verified = {
  subject: string
  claims: Claims
  /** The session at the provider, if it says so. */
  sid: string | undefined
  /** When the person last proved to the provider who they are, if it says so. */
  authenticatedAt: Date | undefined
  idToken: string
  /** Where a person signs out of the provider, if it has such a page. */
  endSession: string | undefined
}

/** Sign-in at providers of OpenID Connect. Everything throws {@link ProviderUnreachable} when a provider fails. */
export type OpenId = {
  /**
   * The page of the provider that a browser is sent to.
   * @param again the person has to prove who they are, even in a session of theirs at the provider
   */
  begin(of: ProviderClient, bound: Bound, options: { roleClaim: string | null; again: boolean }): Promise<URL>
  /**
   * Verifies the answer that the browser brings, and exchanges its code.
   * @param query of the redirect, with `?`
   * @throws NotProven
   */
  finish(of: ProviderClient, bound: Bound, query: string): Promise<Verified>
  /** @throws NotProven */
  readLogoutToken(of: ProviderClient, token: string): Promise<LoggedOut>
}

/** How long what a provider says of itself is used. */
const metadataMs = 10 * 60_000
const mostKept = 200

export function createOpenId(
  resolve: Resolve,
  rules: TargetRules,
  now: () => Date,
): { openId: OpenId; close(): Promise<void> } {
  const { fetch, close } = createGuardedFetch(resolve, rules)
  const kept = new Map<string, { config: Configuration; until: number }>()
  const keySets = new WeakMap<Configuration, KeySet>()

  async function configOf(of: ProviderClient): Promise<Configuration> {
    const key = sha256(JSON.stringify([of.issuer, of.clientId, of.clientSecret]))
    const found = kept.get(key)
    if (found && found.until > now().getTime()) return found.config
    const config = await discover(of, fetch, rules)
    if (kept.size >= mostKept) kept.clear()
    kept.set(key, { config, until: now().getTime() + metadataMs })
    return config
  }

  const openId: OpenId = {
    async begin(of, { redirectUri, state, nonce, verifier }, { roleClaim, again }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library()
      const config = await configOf(of)
      const { scopes_supported: scopes } = config.serverMetadata()
      const ofClaim = roleClaim !== null && scopes?.includes(roleClaim) ? [roleClaim] : []
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: [...new Set(['openid', 'email', ...ofClaim])].join(' '),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(again && { prompt: 'login', max_age: '0' }),
      })
    },
    finish: async (of, bound, query) => finish(await configOf(of), bound, query, rules),
    async readLogoutToken(of, token) {
      const config = await configOf(of)
      const keys = keySets.get(config) ?? (await keySetOf(config.serverMetadata(), fetch))
      keySets.set(config, keys)
      return readLogoutToken(config.serverMetadata(), of.clientId, token, keys)
    },
  }
  return { openId, close }
}

/** Loaded with the first sign-in, since most installations have no provider. */
const library = () => import('openid-client')

/** @throws ProviderUnreachable, also for a provider that describes itself wrongly */
async function discover(
  { issuer, clientId, clientSecret }: ProviderClient,
  fetch: GuardedFetch,
  rules: TargetRules,
): Promise<Configuration> {
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks } = await library()
  try {
    const config = await discovery(new URL(issuer), clientId, clientSecret, undefined, {
      [customFetch]: (url: string, options: CustomFetchOptions) => fetch(url, options),
      timeout: requestLimitMs / 1000,
      // Without them, the library does not verify signatures of tokens that it fetched itself.
      execute: [enableNonRepudiationChecks, ...(rules.allowPrivate ? [allowInsecureRequests] : [])],
    })
    const { authorization_endpoint: page } = config.serverMetadata()
    const url = URL.parse(page ?? '')
    if (!url || faultOfUrl(url, rules) !== undefined)
      throw new ProviderUnreachable('the page of the provider is not allowed')
    return config
  } catch (error) {
    throw new ProviderUnreachable('the provider does not describe itself', { cause: error })
  }
}

async function finish(
  config: Configuration,
  { redirectUri, state, nonce, verifier }: Bound,
  query: string,
  rules: TargetRules,
): Promise<Verified> {
  const { authorizationCodeGrant, fetchUserInfo } = await library()
  try {
    const tokens = await authorizationCodeGrant(config, new URL(`${redirectUri}${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const said = tokens.claims()
    if (!said || tokens.id_token === undefined) throw new NotProven('no ID token')
    const { userinfo_endpoint: more, end_session_endpoint: end } = config.serverMetadata()
    const info = more === undefined ? {} : await fetchUserInfo(config, tokens.access_token, said.sub)
    const endUrl = URL.parse(end ?? '')
    return {
      subject: said.sub,
      claims: merged(said, info),
      sid: typeof said.sid === 'string' ? said.sid : undefined,
      authenticatedAt: said.auth_time === undefined ? undefined : new Date(said.auth_time * 1000),
      idToken: tokens.id_token,
      endSession: endUrl && faultOfUrl(endUrl, rules) === undefined ? endUrl.href : undefined,
    }
  } catch (error) {
    if (error instanceof NotProven) throw error
    throw causedBy(error, ProviderUnreachable) ?? new NotProven(reasonOf(error), { cause: error })
  }
}

/** The ID token counts. Whether an address is verified is said by what names the address. */
function merged(said: Claims, info: Claims): Claims {
  if (said.email === undefined || said.email === info.email) return { ...info, ...said }
  const { email_verified: _, xms_edov: __, ...others } = info
  return { ...others, ...said }
}

/** The error of this class among an error and its causes. */
function causedBy<E extends Error>(error: unknown, of: new (message: string) => E): E | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof of) return one
  return undefined
}

/** A code of the library or of OAuth, never what a provider wrote. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('error' in error && typeof error.error === 'string' && /^[a-z_]{1,60}$/.test(error.error))
    return error.error
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
