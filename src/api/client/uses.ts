import { z } from 'zod'
import { giveAllowanceBack, reportUse } from '../../commands/meters/report.ts'
import { momentOf } from '../../commands/origin.ts'
import {
  allowanceId,
  allowedUse,
  keyedFrom,
  nothingLeft,
  reportedAtFrom,
  usedAtShape,
  usedShape,
  usedShown,
  useShape,
} from '../../http/licenses/meters.ts'
import { answer, errorBody, errorsWith, keyText, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { recordRefusedUse } from '../../usage/refusals.ts'
import { reasonOfNoMeter, verdictOnMeters } from '../../verdicts/metered.ts'
import { clientIn, clientOriginOf } from './admit.ts'
import { answerPreflight } from './edge.ts'
import type { ClientLimits } from './limits.ts'
import { noSuchLicense } from './refusals.ts'
import { activateRefusal, clientPlace, withLimits } from './schemas.ts'

const path = '/:tenantId/:productId/uses'

const mostUses = 500

const batchNumber = z.int().min(1).meta({
  description: 'The number of the batch, which the device counts up; the answer repeats it',
  example: 17,
})

const usesIn = z.object({
  license_key: keyText,
  instance_id: text(256),
  batch: batchNumber,
  uses: z
    .array(
      z.object({
        ...useShape,
        used_at: usedAtShape.used_at.meta({
          description:
            'When it was used, in Unix seconds, by the clock of the device; of any age. Now when absent, and when it lies ahead',
        }),
        allowance: allowanceId.optional().meta({
          description:
            'The allowance that it was spent under: it counts out of that while it is kept, and like any other use after that',
        }),
      }),
    )
    .max(mostUses)
    .meta({ description: 'What the device has journaled, the oldest first, under any of its meters' }),
  returned: z.array(allowanceId).max(20).optional().meta({
    description:
      'Allowances to give back once these uses are counted: what was not spent of them is free at once. One that is over is passed over',
    example: [],
  }),
})

const usesOut = z.object({
  batch: batchNumber,
  uses: z
    .array(
      z.object({
        idempotency_key: z.string().meta({ description: 'The key of the use', example: 'render-7f3a-0042' }),
        allowed: allowedUse,
        reason: z.string().optional().meta({
          description:
            'Why it is not counted: `meter_exhausted`, `no_such_meter`, `meter_key_reused`, or why the license may not be used. Absent when it is',
          example: 'meter_exhausted',
        }),
        ...usedShape,
      }),
    )
    .meta({ description: 'One entry for each use, in the same order' }),
})

/** A device without a network reports what it has journaled. */
export function usesRoute(
  app: ZodApp,
  ports: Ports<'counting' | 'findMetered' | 'keyHashing' | 'now' | 'refusals'>,
  { counting: admit }: Pick<ClientLimits, 'counting'>,
): void {
  answerPreflight(app, path)
  app.post(
    path,
    {
      config: {
        client: 'uses',
        mostFields: mostUses * 8,
        noDryRun: 'whether there is enough is only certain once it is counted',
      },
      bodyLimit: mostUses * 512,
      schema: {
        operationId: 'reportUsesOfInstance',
        tags: ['Client'],
        summary: 'Report the uses that a device has journaled, up to 500 at once',
        description:
          'Each use is answered by itself, as `consume` would answer it, and counts once under its `idempotency_key`: send the same ' +
          'batch again until it is answered, and only then delete it on the device.',
        params: clientPlace,
        body: usesIn,
        response: {
          200: answer('What became of each use', usesOut),
          ...errorsWith(activateRefusal, 404),
          ...withLimits(errorsWith(errorBody, 400, 401, 403)),
        },
      },
    },
    async (request, reply) => {
      const client = clientIn(request)
      const { tenantId, productId } = client
      const { license_key: licenseKey, instance_id: instanceId, batch, uses, returned = [] } = request.body
      await admit(client, { licenseKey, instanceId }, reply)
      const question = { tenantId, productId, licenseKey, deviceId: null, instanceId }
      const { verdict, meterNamed, licenseId } = await verdictOnMeters(ports, question, momentOf(ports))
      const refused = (why: string) => {
        const call = { tenantId, productId, call: 'consume', interface: 'client' } as const
        recordRefusedUse(ports, call, { licenseId, licenseKey, deviceId: null }, why)
      }
      if (verdict.status === 'not_found' || licenseId === undefined) {
        refused('not_found')
        throw noSuchLicense()
      }
      const [now, origin] = [ports.now(), clientOriginOf(request)]
      const reporter = { tenantId, licenseId, instanceId }
      // All begin at once, so that those of one meter are recorded together and in their order.
      const answers = uses.map(async ({ meter, used_at, allowance, ...use }) => {
        const metered = meterNamed(meter) ?? { reason: reasonOfNoMeter(verdict) }
        const about = { name: meter, meter: metered, allowanceId: allowance }
        const reported = { ...keyedFrom(use), ...about, usedAt: reportedAtFrom(used_at, now) }
        const { reason, used } = await reportUse(ports, reporter, reported, origin)
        if (reason !== undefined) refused(reason)
        return {
          idempotency_key: use.idempotency_key,
          allowed: reason === undefined,
          ...(reason !== undefined && { reason }),
          ...(used ? usedShown(meter, used) : nothingLeft(meter)),
        }
      })
      const answered = { batch, uses: await Promise.all(answers) }
      for (const id of returned) await giveAllowanceBack(ports, reporter, id, origin)
      return answered
    },
  )
}
