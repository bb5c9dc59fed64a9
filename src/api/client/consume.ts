import { z } from 'zod'
import { consume } from '../../commands/meters/meters.ts'
import { momentOf } from '../../commands/origin.ts'
import {
  allowedUse,
  keyedFrom,
  nothingLeft,
  usedAtFrom,
  usedAtShape,
  usedShape,
  usedShown,
  useShape,
} from '../../http/licenses/meters.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errorBody, errorsWith, keyText, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { recordRefusedUse } from '../../usage/refusals.ts'
import { reasonOfNoMeter, verdictOnMeter } from '../../verdicts/metered.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import type { ClientLimits } from './limits.ts'
import { noSuchLicense } from './refusals.ts'
import { activateRefusal, clientPlace, withLimits } from './schemas.ts'

const path = '/:tenantId/:productId/consume'

const consumeIn = z.object({
  license_key: keyText,
  instance_id: text(256),
  ...useShape,
  ...usedAtShape,
})

const consumeOut = z.object({
  allowed: allowedUse,
  reason: z.enum(['meter_exhausted', 'no_such_meter']).optional().meta({
    description: 'Why it is not allowed; absent when it is',
    example: 'meter_exhausted',
  }),
  ...usedShape,
})

/** An app counts what it uses under a meter of its license. */
export function consumeRoute(
  app: ZodApp,
  ports: Ports<'counting' | 'findMetered' | 'keyHashing' | 'now' | 'refusals'>,
  { counting: admit }: Pick<ClientLimits, 'counting'>,
): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: { client: 'consume', noDryRun: 'whether there is enough is only certain once it is counted' },
      schema: {
        operationId: 'consumeMeterOfInstance',
        tags: ['Client'],
        summary: 'Count a use under a meter of the license, if there is enough',
        description:
          'Never twice under one `idempotency_key`: send the same request again when its answer was lost. A use for which there is not ' +
          'enough is answered with 200 and `allowed: false`, and is not counted. The instance must have a seat.',
        params: clientPlace,
        body: consumeIn,
        response: {
          200: answer('Whether it is counted', consumeOut),
          ...errorsWith(activateRefusal, 404, 422),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request, reply) => {
      const client = clientIn(request)
      const { tenantId, productId } = client
      const { license_key: licenseKey, instance_id: instanceId, meter } = request.body
      await admit(client, { licenseKey, instanceId }, reply)
      const usedAt = usedAtFrom(request.body.used_at, ports.now())
      const question = { tenantId, productId, licenseKey, meter, deviceId: null, instanceId }
      const { verdict, metered, licenseId } = await verdictOnMeter(ports, question, momentOf(ports))
      const refused = (why: string) => {
        const call = { tenantId, productId, call: 'consume', interface: 'client' } as const
        recordRefusedUse(ports, call, { licenseId, licenseKey, deviceId: null }, why)
      }
      if (!metered) refused(reasonOfNoMeter(verdict))
      if (verdict.status === 'not_found') throw noSuchLicense()
      const reason = reasonOfNoMeter(verdict)
      if (!metered && reason !== 'no_such_meter') {
        const message = `the license may not be used now (${reason}); validate it to see why`
        throw new Problem(422, 'invalid_request', message, {}, { reason })
      }
      if (!metered) return { allowed: false, reason: 'no_such_meter' as const, ...nothingLeft(meter) }
      const use = { ...keyedFrom(request.body), usedAt }
      const used = await consume(ports, metered, use, clientOriginOf(request))
      if (!used.allowed) refused('meter_exhausted')
      return {
        allowed: used.allowed,
        ...(!used.allowed && { reason: 'meter_exhausted' as const }),
        ...usedShown(meter, used),
      }
    },
  )
}
