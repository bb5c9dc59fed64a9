import { z } from 'zod'
import { findIntegration } from '../../../../projections/integrations.ts'
import { switchUseReports } from '../../../commands/integrations/use-reports.ts'
import { amountText } from '../../../domain/meters/amount.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { amountOut } from '../../../http/licenses/meters.ts'
import { answer, errors, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { readUseReports } from '../../../usage/use-reports.ts'

const on = z.boolean().meta({
  description: 'Whether uses of licenses are reported to the meters of Stripe',
  example: true,
})

const reportsOut = z
  .object({
    on,
    since: momentOut.nullable().meta({
      description: 'Uses from then on are reported; null while they are not',
      example: '2026-11-28T10:00:00.000Z',
    }),
    behind: z.int().meta({ description: 'How many meters have uses that are not reported yet', example: 0 }),
    unreported: amountOut.meta({
      description:
        'What was used, over all meters, and is not reported any more: older than Stripe takes, or without an answer for so long that Stripe could count it twice',
      example: '0',
    }),
    problem: z.string().nullable().meta({
      description: 'Why the last attempt of a meter failed; null without one',
      example: 'Stripe did not answer.',
    }),
  })
  .meta({ id: 'UseReports', description: 'What Stripe is told of the uses of licenses' })

type Reports = z.infer<typeof reportsOut>

export function useReportRoutes(app: ZodApp, ports: Ports<'db' | 'execute' | 'now' | 'secrets'>): void {
  const path = '/v1/integrations/stripe/use-reports'
  const shown = async (tenantId: string): Promise<Reports> => {
    const [integration, { behind, unreported, problem }] = await Promise.all([
      findIntegration(ports.db, tenantId, 'stripe'),
      readUseReports(ports.db, tenantId),
    ])
    const since = integration?.usesReportedSince ?? null
    return { on: since !== null, since, behind, unreported: amountText(unreported), problem }
  }
  app.get(
    path,
    {
      config: { scope: 'integrations:read' },
      schema: {
        operationId: 'getUseReports',
        tags: ['Integrations'],
        summary: 'Show what Stripe is told of the uses of licenses',
        description:
          'Whether use is reported to Stripe, and how far the reports are behind. What counts is what keyledger has counted: Stripe gets a copy.',
        response: { 200: answer('The reports', reportsOut), ...errors(403) },
      },
    },
    async (request) => shown(callerIn(request).tenantId),
  )
  app.put(
    path,
    {
      config: { scope: 'integrations:write', dryRun: true },
      schema: {
        operationId: 'setUseReports',
        tags: ['Integrations'],
        summary: 'Report the uses of licenses to the meters of Stripe, or stop that',
        description:
          'Of licenses that were sold as a subscription at Stripe. The meter there has the id of the meter here as its event name. ' +
          'Only what is used from then on is reported, about once a minute.',
        body: z.strictObject({ on }),
        response: { 200: answer('The reports', reportsOut), ...errors(400, 403, 409) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      await switchUseReports(ports, tenantId, request.body.on, originOf(request))
      return shown(tenantId)
    },
  )
}
