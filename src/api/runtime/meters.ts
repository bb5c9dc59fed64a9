import { z } from 'zod'
import { commitHold, consume, placeHold, releaseHold } from '../../commands/meters/meters.ts'
import { momentOf } from '../../commands/origin.ts'
import { unixSeconds } from '../../domain/licenses/expiry.ts'
import { amountOf } from '../../domain/meters/amount.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import {
  allowedUse,
  amountIn,
  holdId,
  keyedFrom,
  nothingLeft,
  secondsIn,
  standingShape,
  standingShown,
  usedAtFrom,
  usedAtShape,
  usedShape,
  usedShown,
  useShape,
} from '../../http/licenses/meters.ts'
import { answer } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import { refuseAllButPost } from '../../http/wrong-method.ts'
import type { Ports } from '../../ports.ts'
import { recordRefusedUse } from '../../usage/refusals.ts'
import { reasonOfNoMeter, verdictOnMeter } from '../../verdicts/metered.ts'
import { deviceId, keyOfProduct, runtimeErrors, runtimeStatus } from './schemas.ts'

type MeterPorts = Ports<'counting' | 'db' | 'findMetered' | 'keyHashing' | 'newId' | 'now' | 'refusals'>

/** What is used under the meters of a license: counted, or kept free first and counted then. */
export function meterRoutes(app: ZodApp, ports: MeterPorts): void {
  consumeRoute(app, ports)
  holdRoute(app, ports)
  commitRoute(app, ports)
  releaseRoute(app, ports)
  for (const call of ['consume', 'hold']) refuseAllButPost(app, `/v1/licenses/${call}`)
}

const useIn = keyOfProduct.extend({
  ...useShape,
  device_id: deviceId.optional().meta({ description: 'When sent, the device must have a seat' }),
})

const statusShape = {
  status: runtimeStatus.meta({
    description:
      'The status of the license; `plan_limit` with `reason: meter_exhausted` where not so much is left',
    example: 'active',
  }),
  reason: z.string().optional().meta({
    description:
      'Why it is not allowed: `meter_exhausted`, `no_such_meter`, or why the license is not valid. Absent when it is allowed',
  }),
}

const useOut = z.object({ allowed: allowedUse, ...statusShape, ...usedShape })

const exhausted = (refused: (reason: 'meter_exhausted') => 'meter_exhausted') =>
  ({ status: 'plan_limit', reason: refused('meter_exhausted') }) as const

/** Records the reason for which a use is refused, and returns it. */
const refusing =
  (
    ports: Ports<'refusals'>,
    call: 'consume' | 'hold',
    { tenantId, productId, ...use }: ReturnType<typeof questionOf> & { licenseId: string | undefined },
  ) =>
  <Reason extends string>(reason: Reason): Reason => {
    recordRefusedUse(ports, { tenantId, productId, call, interface: 'runtime' }, use, reason)
    return reason
  }

const questionOf = (
  tenantId: string,
  body: { product_id: string; license_key: string; meter: string; device_id?: string | undefined },
) => ({
  tenantId,
  productId: body.product_id,
  licenseKey: body.license_key,
  meter: body.meter,
  deviceId: body.device_id ?? null,
  instanceId: null,
})

const config = {
  scope: 'licenses:runtime',
  idempotencyKey: 'ignored',
  noDryRun: 'whether there is enough is only certain once it is counted',
} as const

function consumeRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/consume',
    {
      config,
      schema: {
        operationId: 'consumeMeter',
        tags: ['Runtime'],
        summary: 'Count a use under a meter of a license, if there is enough',
        description:
          'Exact over any number of callers: never more than is allowed, and never twice under one `idempotency_key`, so send the ' +
          'same request again when its answer was lost. A use that is not allowed is answered with 200 and a reason, and is not counted.',
        body: useIn.extend(usedAtShape),
        response: { 200: answer('Whether it is counted', useOut), ...runtimeErrors(422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { meter } = request.body
      const usedAt = usedAtFrom(request.body.used_at, ports.now())
      const question = questionOf(tenantId, request.body)
      const { verdict, metered, licenseId } = await verdictOnMeter(ports, question, momentOf(ports))
      const { status } = verdict
      const refused = refusing(ports, 'consume', { ...question, licenseId })
      if (!metered)
        return { allowed: false, status, reason: refused(reasonOfNoMeter(verdict)), ...nothingLeft(meter) }
      const use = { ...keyedFrom(request.body), usedAt }
      const used = await consume(ports, metered, use, originOf(request))
      const standing = used.allowed ? { status } : exhausted(refused)
      return { allowed: used.allowed, ...standing, ...usedShown(meter, used) }
    },
  )
}

const holdOut = z.object({
  allowed: z.boolean().meta({ description: 'Whether the amount is kept free', example: true }),
  ...statusShape,
  hold_id: holdId
    .nullable()
    .meta({ description: 'The hold, to commit or release; null when it is not allowed' }),
  ends_at: z.int().nullable().meta({
    description: 'When the hold ends by itself, in Unix seconds; null when it is not allowed',
    example: 1_795_254_000,
  }),
  ...standingShape,
})

function holdRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/hold',
    {
      config,
      schema: {
        operationId: 'holdMeter',
        tags: ['Runtime'],
        summary: 'Keep an amount of a meter free for work whose use is not known yet',
        description:
          'Commit it with what was used, up to its amount, or release it. A hold that ends by itself is free again at that moment.',
        body: useIn.extend({ seconds: secondsIn }),
        response: { 200: answer('Whether the amount is kept free', holdOut), ...runtimeErrors(422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { meter, seconds } = request.body
      const question = questionOf(tenantId, request.body)
      const { verdict, metered, licenseId } = await verdictOnMeter(ports, question, momentOf(ports))
      const { status } = verdict
      const refused = refusing(ports, 'hold', { ...question, licenseId })
      const none = { allowed: false, hold_id: null, ends_at: null }
      if (!metered)
        return { ...none, status, reason: refused(reasonOfNoMeter(verdict)), ...nothingLeft(meter) }
      const placing = { ...keyedFrom(request.body), seconds }
      const { hold, ...stands } = await placeHold(ports, metered, placing, originOf(request))
      const shown = standingShown(meter, stands)
      if (!hold) return { ...none, ...exhausted(refused), ...shown }
      const placed = { allowed: true, hold_id: hold.holdId, ends_at: unixSeconds(hold.endsAt) }
      return { ...placed, status, ...shown }
    },
  )
}

function commitRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/hold/commit',
    {
      config,
      schema: {
        operationId: 'commitHold',
        tags: ['Runtime'],
        summary: 'Count what was used of a hold, and free the rest; repeating it gets the same response',
        description: 'Also for a license that has ended meanwhile: the work is done.',
        body: z.object({
          hold_id: holdId,
          amount: amountIn.meta({ description: 'What was used, at most the amount of the hold' }),
        }),
        response: {
          200: answer(
            'It is counted',
            z.object({ committed: z.literal(true).meta({ description: 'Always true' }) }),
          ),
          ...runtimeErrors(409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { hold_id, amount } = request.body
      await commitHold(ports, { tenantId, holdId: hold_id, amount: amountOf(amount) }, originOf(request))
      return { committed: true as const }
    },
  )
}

function releaseRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/hold/release',
    {
      config,
      schema: {
        operationId: 'releaseHold',
        tags: ['Runtime'],
        summary: 'Free what a hold keeps, without counting anything; repeating it gets the same response',
        description: 'A hold that has ended, or was committed, is left as it is.',
        body: z.object({ hold_id: holdId }),
        response: {
          200: answer(
            'It keeps nothing',
            z.object({ released: z.literal(true).meta({ description: 'Always true' }) }),
          ),
          ...runtimeErrors(409),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      await releaseHold(ports, { tenantId, holdId: request.body.hold_id }, originOf(request))
      return { released: true as const }
    },
  )
}
