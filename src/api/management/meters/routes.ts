import { z } from 'zod'
import { listLines } from '../../../../projections/meters/queries.ts'
import { catchUpWithLog } from '../../../commands/cross-stream/read-models.ts'
import { addCredit, correctUse, withdrawCredit } from '../../../commands/meters/meters.ts'
import { momentOf } from '../../../commands/origin.ts'
import { amountOf } from '../../../domain/meters/amount.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { amountIn, amountOut } from '../../../http/licenses/meters.ts'
import { answer, errors, onlyId, pageOf, pageQuery } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { readStandings } from '../../../usage/standing-meters.ts'
import { answerPage } from '../page.ts'
import { type MeterHolder, ofCustomers, ofLicenses } from './holders.ts'
import {
  creditEnd,
  creditId,
  creditIn,
  idempotencyKey,
  lineOut,
  lineView,
  meterOut,
  reason,
} from './schemas.ts'

type MeterPorts = Ports<'counting' | 'db' | 'ledger' | 'newId' | 'now' | 'untilVisible'>

const oneMeter = onlyId.extend({
  meter: z.string().meta({ description: 'The id of the meter', example: 'api-calls' }),
})

/** What licenses have used under their meters, and under those that they share, with prepaid credits and corrections. */
export function meterManagementRoutes(app: ZodApp, ports: MeterPorts, cursors: Cursors): void {
  for (const holder of [ofLicenses, ofCustomers]) {
    metersRoute(app, ports, holder)
    linesRoute(app, ports, holder, cursors)
    creditRoute(app, ports, holder)
    withdrawalRoute(app, ports, holder)
    correctionRoute(app, ports, holder)
  }
}

function metersRoute(app: ZodApp, ports: MeterPorts, holder: MeterHolder): void {
  app.get(
    `${holder.path}/:id/meters`,
    {
      config: { scope: holder.scopes.read },
      schema: {
        operationId: holder.operations.list,
        tags: [holder.tag],
        summary: `Show what ${holder.users} used under each meter in the present period`,
        description: `${holder.meters} The answer has everything that was counted before the call.`,
        params: onlyId,
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
      const meters = await holder.owned.inUse(ports, tenantId, request.params.id)
      return { meters: await readStandings(ports.db, meters, momentOf(ports)) }
    },
  )
}

function linesRoute(app: ZodApp, ports: MeterPorts, holder: MeterHolder, cursors: Cursors): void {
  app.get(
    `${holder.path}/:id/meters/:meter/uses`,
    {
      config: { scope: holder.scopes.read },
      schema: {
        operationId: holder.operations.lines,
        tags: [holder.tag],
        summary: `List what was counted under a meter of ${holder.name}, line by line`,
        description: `The sums of the lines are what was used, to the last digit. ${holder.lines}`,
        params: oneMeter,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of lines', pageOf(lineOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { meter } = request.params
      await catchUpWithLog(ports)
      const { id: ownerId } = request.params
      // Refuses one of another tenant; a meter that is no longer there may have lines.
      await holder.owned.own(ports, tenantId, ownerId)
      return answerPage(
        cursors,
        [tenantId, 'meter-lines', ownerId, meter],
        request.query,
        (keyset) => listLines(ports.db, ownerId, meter, keyset),
        (lines) => lines.map(lineView),
      )
    },
  )
}

function creditRoute(app: ZodApp, ports: MeterPorts, holder: MeterHolder): void {
  app.post(
    `${holder.path}/:id/credits`,
    {
      config: { scope: holder.scopes.write, dryRun: true },
      schema: {
        operationId: holder.operations.credit,
        tags: [holder.tag],
        summary: `Add a prepaid amount to a meter of ${holder.name}; repeating it adds nothing`,
        description: `Credits are spent after what the period includes, that which ends first before the others.${holder.credits}`,
        params: onlyId,
        body: creditIn,
        response: {
          201: answer('The credit', z.object({ creditId, amount: amountOut, endsAt: creditEnd })),
          ...errors(400, 403, 404, 409, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerIn(request)
      const { meter, amount, expiresAt, order = null, idempotencyKey: key } = request.body
      const found = await holder.owned.forCredit(ports, tenantId, { id: request.params.id, meter })
      const credit = { key, amount: amountOf(amount), endsAt: expiresAt, order }
      const added = await addCredit(ports, found, credit, originOf(request))
      reply.code(201)
      return added
    },
  )
}

function withdrawalRoute(app: ZodApp, ports: MeterPorts, holder: MeterHolder): void {
  app.post(
    `${holder.path}/:id/meters/:meter/credits/:creditId/withdraw`,
    {
      config: { scope: holder.scopes.write, dryRun: true },
      schema: {
        operationId: holder.operations.withdrawal,
        tags: [holder.tag],
        summary: `Take back what is left of a credit of ${holder.name}`,
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
      const found = await holder.owned.ownMeter(ports, tenantId, request.params)
      const withdrawal = { creditId: request.params.creditId, reason: request.body.reason }
      await withdrawCredit(ports, found, withdrawal, originOf(request))
      return { withdrawn: true as const }
    },
  )
}

function correctionRoute(app: ZodApp, ports: MeterPorts, holder: MeterHolder): void {
  app.post(
    `${holder.path}/:id/meters/:meter/corrections`,
    {
      config: { scope: holder.scopes.write, dryRun: true },
      schema: {
        operationId: holder.operations.correction,
        tags: [holder.tag],
        summary: `Take off what was counted wrongly under a meter of ${holder.name} in the present period; repeating it takes off nothing more`,
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
      const found = await holder.owned.ownMeter(ports, tenantId, request.params)
      await correctUse(ports, found, { key, amount: amountOf(amount), reason: why }, originOf(request))
      return { corrected: true as const }
    },
  )
}
