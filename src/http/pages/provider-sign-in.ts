import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { NotProven, ProviderUnreachable } from '../../access/openid/errors.ts'
import type { Verified } from '../../access/openid/openid.ts'
import { type BegunSignIn, boundTo, keepSignIn, takeSignIn } from '../../access/provider-sign-ins.ts'
import { clientOf } from '../../commands/sign-in-providers.ts'
import { newSecret } from '../../credentials/secret.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import type { Ports } from '../../ports.ts'

/** A sign-in at a provider of OpenID Connect, to the provider and back, whatever pages it is for. */
export type AtProvider = {
  tenantId: string
  provider: SignInProvider
  /** Where the provider sends the browser back to. It is not the one of another provider, nor of other pages. */
  redirectUri: string
}

/** The cookie that binds a sign-in to the browser in which it was begun. A new one replaces it. */
export type BrowserCookie = {
  set(reply: FastifyReply, secret: string): void
  read(request: FastifyRequest): string | undefined
  clear(reply: FastifyReply): void
}

type BeginPorts = Ports<'db' | 'now' | 'openId' | 'randomBytes' | 'secrets'>

/**
 * Begins a sign-in, and gives the browser the cookie that its answer needs.
 * @param begun `sessionHash` is null for a sign-in; with a session, its person has to prove who they are once more
 * @returns the page of the provider that the browser is sent to
 * @throws ProviderUnreachable
 */
export async function beginSignIn(
  ports: BeginPorts,
  reply: FastifyReply,
  cookie: BrowserCookie,
  at: AtProvider,
  begun: Pick<BegunSignIn, 'sessionHash' | 'returnTo'>,
): Promise<string> {
  const { tenantId, provider, redirectUri } = at
  const { providerId, roleClaim } = provider
  const [state, browserSecret] = [newSecret(ports.randomBytes), newSecret(ports.randomBytes)]
  // Before the provider is asked, so that the ten minutes begin with the request.
  const begunAt = ports.now()
  const client = await clientOf(ports, tenantId, provider)
  const bound = { redirectUri, state, ...boundTo(browserSecret, state) }
  const again = begun.sessionHash !== null
  const page = await ports.openId.begin(client, bound, { roleClaim, again })
  await keepSignIn(ports.db, { state, browserSecret }, { ...begun, tenantId, providerId, begunAt })
  cookie.set(reply, browserSecret)
  return page.href
}

const Answer = z.object({ state: z.string() })

/**
 * Verifies the answer that a browser brings from a provider. The sign-in is used up before, whatever comes of it.
 * @returns undefined when the answer belongs to no sign-in that this browser has begun at this provider
 * @throws ProviderUnreachable, NotProven
 */
export async function finishSignIn(
  ports: Ports<'db' | 'now' | 'openId' | 'secrets'>,
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: BrowserCookie,
  { tenantId, provider, redirectUri }: AtProvider,
): Promise<{ begun: BegunSignIn; verified: Verified } | undefined> {
  const state = Answer.safeParse(request.query).data?.state
  const browserSecret = cookie.read(request)
  if (state === undefined || browserSecret === undefined) return undefined
  const { providerId } = provider
  const begun = await takeSignIn(ports.db, { state, browserSecret }, { tenantId, providerId }, ports.now())
  if (!begun) return undefined
  cookie.clear(reply)
  const client = await clientOf(ports, tenantId, provider)
  const query = request.url.slice(request.url.indexOf('?'))
  const bound = { redirectUri, state, ...boundTo(browserSecret, state) }
  return { begun, verified: await ports.openId.finish(client, bound, query) }
}

/**
 * What a provider failed in, which is logged.
 * @returns undefined when it is not the provider that failed
 */
export function failureOfProvider(
  request: FastifyRequest,
  { tenantId, provider: { providerId } }: AtProvider,
  error: unknown,
): 'unreachable' | 'not_proven' | undefined {
  const line = { request_id: request.id, tenant: tenantId, provider: providerId }
  if (error instanceof ProviderUnreachable) {
    request.log.warn({ ...line, reason: error.message }, 'sign_in.provider_unreachable')
    return 'unreachable'
  }
  if (!(error instanceof NotProven)) return undefined
  request.log.info({ ...line, reason: error.message }, 'sign_in.not_proven')
  return 'not_proven'
}
