import { z } from 'zod'
import { momentOf } from '../../commands/origin.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { answer } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { renewalSeconds } from '../../signing/settings.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import { asItStands, clientErrors, clientPlace, settingsShape } from './schemas.ts'
import { type Settings, settingsOf } from './settings.ts'

const path = '/:tenantId/:productId/config'

/** Returns only the settings, for an app that makes no other call. */
export function configRoute(
  app: ZodApp,
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets' | 'signSettings'>,
): void {
  answerPreflight(app, path)
  app.get(
    path,
    {
      ...asItStands,
      config: { client: 'config' },
      schema: {
        operationId: 'getClientConfig',
        tags: ['Client'],
        summary: "Read the product's settings, signed if a trial length is configured",
        description:
          'A signed response may be cached until it is signed again, as given by `Cache-Control`, which is 12 hours before ' +
          '`expires_at`. If signing fails, the settings are returned unsigned and without the trial length.',
        params: clientPlace,
        response: { 200: answer('The settings', z.object(settingsShape)), ...clientErrors() },
      },
    },
    async (request, reply) => {
      const client = clientIn(request)
      const asking = { client, origin: clientOriginOf(request), log: request.log }
      const now = momentOf(ports)
      const settings = await settingsOf(ports, asking, now)
      const configured = client.product.trialDurationDays !== undefined
      reply.header('cache-control', cacheControl(settings, configured, now))
      return settings
    },
  )
}

/** Private, because a shared cache would also answer callers without a key. */
function cacheControl(settings: Settings, configured: boolean, now: string): string {
  if ('issued_at' in settings) {
    const renewsAt = settings.issued_at + renewalSeconds
    return `private, max-age=${Math.max(0, renewsAt - unixSeconds(now))}`
  }
  return configured ? 'no-store' : 'private, max-age=300'
}
