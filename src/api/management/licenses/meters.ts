import { z } from 'zod'
import { findMetering, type Metering } from '../../../../projections/meters/licenses.ts'
import { findMeters, listLines, type PlacedLine } from '../../../../projections/meters/queries.ts'
import { catchUpWithLog } from '../../../commands/cross-stream/read-models.ts'
import {
  addCredit,
  correctUse,
  type MeterOfLicense,
  meterOfLicense,
  withdrawCredit,
} from '../../../commands/meters/meters.ts'
import { momentOf } from '../../../commands/origin.ts'
import { amountOf } from '../../../domain/meters/amount.ts'
import { lineKinds } from '../../../domain/meters/lines.ts'
import { periodKinds } from '../../../domain/meters/period.ts'
import { meterView } from '../../../domain/meters/view.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { amountIn, amountOut, meterName } from '../../../http/licenses/meters.ts'
import { notFound } from '../../../http/problem.ts'
import { answer, errors, inUtc, momentIn, momentOut, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { answerPage } from '../page.ts'
import { requireLicenseId } from './licenses.ts'

type MeterPorts = Ports<'counting' | 'db' | 'ledger' | 'newId' | 'now' | 'untilVisible'>

const oneLicense = z.strictObject({ id: z.string() })
const oneMeter = z.strictObject({
  id: z.string(),
  meter: z.string().meta({ description: 'The id of the meter', example: 'api-calls' }),
})

/** What licenses have used under their meters, with prepaid credits and corrections. */
export function licenseMeterRoutes(app: ZodApp, ports: MeterPorts, cursors: Cursors): void {
  metersRoute(app, ports)
  linesRoute(app, ports, cursors)
  creditRoute(app, ports)
  withdrawalRoute(app, ports)
  correctionRoute(app, ports)
}

const idempotencyKey = text(200).meta({
  description: 'Names this request under its meter: it counts once, however often it is sent',
  example: 'order-1001',
})

const creditId = z
  .string()
  .meta({ description: 'The id of the credit', example: 'crd_06f5w3k8hx7vq2m4n9t1r0s5zc' })
const creditEnd = momentOut.nullable().meta({
  description: 'From when on the credit cannot be spent; null for never',
  example: '2027-11-24T00:00:00.000Z',
})

const meterOut = z
  .object({
    meter: meterName,
    unit: z.string().meta({ description: 'What is counted', example: 'calls' }),
    period: z.enum(periodKinds).meta({ description: 'When counting begins anew', example: 'month' }),
    included: amountOut.meta({ description: 'How much the period includes', example: '10000' }),
    rolledOver: amountOut.meta({ description: 'What is left of the period before', example: '0' }),
    used: amountOut.meta({ description: 'How much was used in the period, in all', example: '12.5' }),
    remaining: amountOut.meta({
      description: 'What is left of all that, and of the credits, and is not held',
      example: '9987.5',
    }),
    overage: amountOut.meta({ description: 'How much of `used` is beyond it', example: '0' }),
    startsAt: momentOut.meta({ description: 'When the period began', example: '2026-11-01T00:00:00.000Z' }),
    resetsAt: momentOut.nullable().meta({
      description: 'When it ends; null while nothing is known to end it',
      example: '2026-12-01T00:00:00.000Z',
    }),
    credits: z
      .array(
        z.object({
          creditId,
          left: amountOut.meta({ description: 'What is left of it', example: '500' }),
          endsAt: creditEnd,
        }),
      )
      .meta({ description: 'The prepaid credits that have not ended, in the order in which they are spent' }),
    holds: z
      .array(
        z.object({
          holdId: z.string().meta({
            description: 'The id of the hold',
            example: 'hld_06f5w3k8hx7vq2m4n9t1r0s5zc.lic_1.calls',
          }),
          amount: amountOut.meta({ description: 'What it keeps free', example: '100' }),
          endsAt: momentOut.meta({
            description: 'When it ends by itself',
            example: '2026-11-24T14:15:12.000Z',
          }),
        }),
      )
      .meta({ description: 'What is kept free for work that is under way' }),
  })
  .meta({ id: 'LicenseMeter', description: 'How a meter of a license stands in the present period' })

/** @throws Problem 404 */
async function requireMetering({ db }: Ports<'db'>, tenantId: string, id: string): Promise<Metering> {
  const metering = await findMetering(db, tenantId, requireLicenseId(id))
  if (!metering) throw notFound('license')
  return metering
}

/** @throws Problem 404, Refusal `meter_not_found` */
async function requireMeter(
  ports: Ports<'db'>,
  tenantId: string,
  { id, meter }: { id: string; meter: string },
): Promise<MeterOfLicense> {
  const found = meterOfLicense(await requireMetering(ports, tenantId, id), meter)
  if (!found) throw new Refusal('meter_not_found')
  return found
}

function metersRoute(app: ZodApp, ports: MeterPorts): void {
  app.get(
    '/v1/licenses/:id/meters',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listLicenseMeters',
        tags: ['Licenses'],
        summary: 'Show what a license has used under each meter in the present period',
        description:
          'The meters are those of its key type as it is now. The answer has everything that was counted before the call.',
        params: oneLicense,
        response: {
          200: answer(
            'The meters',
            z.object({ meters: z.array(meterOut).meta({ description: 'One entry for each meter' }) }),
          ),
          ...errors(403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      await catchUpWithLog(ports)
      const { meters, moments, licenseId } = await requireMetering(ports, tenantId, request.params.id)
      const used = await findMeters(ports.db, tenantId, licenseId)
      const now = momentOf(ports)
      return { meters: meters.map((terms) => meterView(used.get(terms.meter), { terms, moments }, now)) }
    },
  )
}

const lineOut = z
  .object({
    kind: z.enum(lineKinds).meta({
      description:
        'What was used is the sum of each `use` and `commit`, less each `correction`. `hold`: an amount was kept free. `credit`: a prepaid ' +
        'amount was added; `withdrawal`: what was left of it was taken back',
      example: 'use',
    }),
    key: z.string().nullable().meta({
      description:
        'The idempotency key of the request; of a commit the id of its hold; null for a withdrawal',
      example: 'render-7f3a-0042',
    }),
    amount: amountOut.nullable().meta({ description: 'How much; null for a withdrawal', example: '1.5' }),
    from: z
      .object({
        rolledOver: amountOut.optional().meta({ description: 'From what the period before left over' }),
        included: amountOut.optional().meta({ description: 'From what the period includes' }),
        credits: z
          .record(z.string(), amountOut)
          .optional()
          .meta({
            description: 'From credits, by their ids',
            example: { crd_06f5w3k8hx7vq2m4n9t1r0s5zc: '1.5' },
          }),
        overage: amountOut.optional().meta({ description: 'Beyond all that' }),
      })
      .nullable()
      .meta({
        description:
          'What it was taken from, or given back to; what nothing was taken from is absent. null for a credit',
      }),
    periodStartsAt: momentOut.nullable().meta({
      description: 'The start of the period that it counts in; null for a credit',
      example: '2026-11-01T00:00:00.000Z',
    }),
    usedAt: momentOut.nullable().meta({
      description: 'When it was used, for a use that was reported late; null otherwise',
      example: null,
    }),
    late: z.boolean().meta({
      description:
        'Whether it counts in a later period than it was used in, since that was closed or had no room',
      example: false,
    }),
    holdId: z
      .string()
      .nullable()
      .meta({ description: 'Of a hold and its commit; null otherwise', example: null }),
    creditId: z
      .string()
      .nullable()
      .meta({ description: 'Of a credit and its withdrawal; null otherwise', example: null }),
    note: z.string().nullable().meta({
      description:
        'The order number of a credit, or the reason of a correction or a withdrawal; null otherwise',
      example: null,
    }),
    time: momentOut.meta({ description: 'When it was counted', example: '2026-11-24T14:05:12.000Z' }),
  })
  .meta({ id: 'MeterLine', description: 'A line of what was counted under a meter' })

function lineView({ kind, key, amount, from, period, usedAt, late, subjectId, note, at }: PlacedLine) {
  const isOfCredit = kind === 'credit' || kind === 'withdrawal'
  return {
    ...{ kind, key, amount, from, usedAt, late, note },
    periodStartsAt: period?.startsAt ?? null,
    holdId: isOfCredit ? null : subjectId,
    creditId: isOfCredit ? subjectId : null,
    time: at,
  }
}

function linesRoute(app: ZodApp, ports: MeterPorts, cursors: Cursors): void {
  app.get(
    '/v1/licenses/:id/meters/:meter/uses',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listMeterLines',
        tags: ['Licenses'],
        summary: 'List what was counted under a meter of a license, line by line',
        description:
          'The sums of the lines are what the license has used, to the last digit. Lines of a meter that the key type no longer has stay.',
        params: oneMeter,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of lines', pageOf(lineOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { meter } = request.params
      await catchUpWithLog(ports)
      const { licenseId } = await requireMetering(ports, tenantId, request.params.id)
      return answerPage(
        cursors,
        [tenantId, 'meter-lines', licenseId, meter],
        request.query,
        (keyset) => listLines(ports.db, licenseId, meter, keyset),
        (lines) => lines.map(lineView),
      )
    },
  )
}

function creditRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/:id/credits',
    {
      config: {
        scope: 'licenses:write',
        noDryRun: 'it only adds what can be taken back; the list of meters shows what there is',
      },
      schema: {
        operationId: 'addCredit',
        tags: ['Licenses'],
        summary: 'Add a prepaid amount to a meter of a license; repeating it adds nothing',
        description:
          'Credits are spent after what the period includes, that which ends first before the others.',
        params: oneLicense,
        body: z.strictObject({
          meter: meterName,
          amount: amountIn,
          expiresAt: momentIn.transform(inUtc).nullable().default(null).meta({
            description: 'From when on it cannot be spent; null, or absent, for never',
            example: '2027-11-24T00:00:00.000Z',
          }),
          order: text(200).optional().meta({
            description: 'The number of the purchase, as you know it',
            example: '1001',
          }),
          idempotencyKey,
        }),
        response: {
          201: answer('The credit', z.object({ creditId, amount: amountOut, endsAt: creditEnd })),
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { meter, amount, expiresAt, order = null, idempotencyKey: key } = request.body
      const found = await requireMeter(ports, tenantId, { id: request.params.id, meter })
      const credit = { key, amount: amountOf(amount), endsAt: expiresAt, order }
      const added = await addCredit(ports, found, credit, originOf(request))
      reply.code(201)
      return added
    },
  )
}

const reason = text(500).meta({
  description: 'Why; it stays with the line',
  example: 'the order was refunded',
})

function withdrawalRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/:id/meters/:meter/credits/:creditId/withdraw',
    {
      config: { scope: 'licenses:write', noDryRun: 'the list of meters shows what is left of the credit' },
      schema: {
        operationId: 'withdrawCredit',
        tags: ['Licenses'],
        summary: 'Take back what is left of a credit',
        description:
          'What was spent of it stays spent. A credit that is spent, has ended or was withdrawn gets 404.',
        params: oneMeter.extend({ creditId }),
        body: z.strictObject({ reason }),
        response: {
          200: answer(
            'Nothing is left of it',
            z.object({ withdrawn: z.literal(true).meta({ description: 'Always true' }) }),
          ),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const found = await requireMeter(ports, tenantId, request.params)
      const withdrawal = { creditId: request.params.creditId, reason: request.body.reason }
      await withdrawCredit(ports, found, withdrawal, originOf(request))
      return { withdrawn: true as const }
    },
  )
}

function correctionRoute(app: ZodApp, ports: MeterPorts): void {
  app.post(
    '/v1/licenses/:id/meters/:meter/corrections',
    {
      config: {
        scope: 'licenses:write',
        noDryRun: 'the list of meters shows what was used, of which it takes the amount off',
      },
      schema: {
        operationId: 'correctUse',
        tags: ['Licenses'],
        summary:
          'Take off what was counted wrongly in the present period; repeating it takes off nothing more',
        description:
          'It is given back first of what was beyond the period, then to the credits, and then to what is included.',
        params: oneMeter,
        body: z.strictObject({
          amount: amountIn.meta({ description: 'How much was counted too much', example: '2.5' }),
          reason,
          idempotencyKey,
        }),
        response: {
          200: answer(
            'It is taken off',
            z.object({ corrected: z.literal(true).meta({ description: 'Always true' }) }),
          ),
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { amount, reason: why, idempotencyKey: key } = request.body
      const found = await requireMeter(ports, tenantId, request.params)
      await correctUse(ports, found, { key, amount: amountOf(amount), reason: why }, originOf(request))
      return { corrected: true as const }
    },
  )
}
