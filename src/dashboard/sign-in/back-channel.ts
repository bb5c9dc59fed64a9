import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findSignInProvider } from '../../../projections/sign-in-providers.ts'
import { NotProven, ProviderUnreachable } from '../../access/openid/errors.ts'
import { logOutByProvider } from '../../commands/members/provider-sign-in.ts'
import { clientOf } from '../../commands/sign-in-providers.ts'
import { addressOf } from '../../http/listening.ts'
import { backChannelPath } from '../../http/sign-in-paths.ts'
import { callerOf } from '../../limits/address.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'

const Body = z.object({ logout_token: z.string().max(50_000) })

/** For the servers of a provider, which may end many sessions at once. */
const allowance = { burst: 120, intervalMs: 500 }

type ProviderRequest = FastifyRequest<{ Params: { workspace: string; provider: string } }>

/**
 * Where the servers of a provider end sessions, by OpenID Connect Back-Channel Logout 1.0. It is no page: it has no cookies,
 * and the token alone says what to do.
 */
export async function backChannelLogout(
  app: FastifyInstance,
  { ports }: Pick<PageContext, 'ports'>,
): Promise<void> {
  await app.register(formbody)
  // By the standard, a refusal names an error of OAuth.
  const refuse = (reply: FastifyReply) => reply.code(400).send({ error: 'invalid_request' })

  app.post(
    backChannelPath(':workspace', ':provider'),
    pageRoute({}),
    async (request: ProviderRequest, reply) => {
      const { workspace: tenantId, provider: providerId } = request.params
      const line = { request_id: request.id, tenant: tenantId, provider: providerId }
      const bucket = `provider logout ${callerOf(addressOf(request))}`
      const attempt = await ports.attempts.take([{ bucket, allowance }])
      if (!attempt.allowed)
        return reply
          .code(429)
          .header('retry-after', String(attempt.retryAfterSeconds))
          .send({ error: 'slow_down' })
      const provider = await findSignInProvider(ports.db, tenantId, providerId)
      if (!provider) return reply.code(404).send({ error: 'invalid_request' })
      const body = Body.safeParse(request.body)
      if (!body.success) return refuse(reply)
      try {
        const client = await clientOf(ports, tenantId, provider)
        const loggedOut = await ports.openId.readLogoutToken(client, body.data.logout_token)
        const ended = await logOutByProvider(ports, { tenantId, provider }, loggedOut)
        if (ended === undefined) return await refuse(reply)
        request.log.info({ ...line, ended }, 'sign_out.by_provider')
        return await reply.code(200).send()
      } catch (error) {
        if (error instanceof ProviderUnreachable)
          return reply.code(503).header('retry-after', '60').send({ error: 'temporarily_unavailable' })
        if (!(error instanceof NotProven)) throw error
        request.log.info({ ...line, reason: error.message }, 'sign_out.token_refused')
        return refuse(reply)
      }
    },
  )
}
