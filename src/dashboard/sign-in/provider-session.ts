import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Verified } from '../../access/openid/openid.ts'
import type { Ports } from '../../ports.ts'
import { sessionHashOf } from '../session/session.ts'

/** What a sign-out at the provider needs. It names the person, so the vault keeps it sealed. */
const Kept = z.object({ idToken: z.string(), endSession: z.string(), clientId: z.string() })

/** An address that is longer is refused by many servers. */
const longestHint = 6000

const nameOf = (sessionHash: string): string => `provider-session.${sessionHash}`

/** Keeps what the end of the request's session needs, if the provider has a page for signing out. */
export async function keepForSignOut(
  { secrets }: Ports<'secrets'>,
  request: FastifyRequest,
  tenantId: string,
  { idToken, endSession }: Pick<Verified, 'idToken' | 'endSession'>,
  clientId: string,
): Promise<void> {
  if (endSession === undefined) return
  await secrets.keep(
    tenantId,
    nameOf(sessionHashOf(request)),
    JSON.stringify({ idToken, endSession, clientId }),
  )
}

/** Where the member of the request's session signs out of the provider; undefined when there is no such page. */
export async function takeEndSession(
  { secrets }: Ports<'secrets'>,
  request: FastifyRequest,
  baseUrl: string,
): Promise<string | undefined> {
  const member = request.session?.member
  if (!member?.provider) return undefined
  const name = nameOf(sessionHashOf(request))
  const kept = await secrets.open(member.tenantId, name)
  await secrets.destroy(member.tenantId, name)
  if (kept === undefined) return undefined
  const { idToken, endSession, clientId } = Kept.parse(JSON.parse(kept))
  const url = new URL(endSession)
  url.searchParams.set('client_id', clientId)
  url.searchParams.set('post_logout_redirect_uri', `${baseUrl}/dashboard/sign-in`)
  if (idToken.length <= longestHint) url.searchParams.set('id_token_hint', idToken)
  return url.href
}
