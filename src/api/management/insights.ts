import { z } from 'zod'
import { readFigures } from '../../../projections/insights/figures.ts'
import { momentOf } from '../../commands/origin.ts'
import { callerIn } from '../../http/authenticate.ts'
import { answer, errors, momentIn, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { maxPoints, pointsIn } from '../../usage/range.ts'
import { requireRange } from './page.ts'

const day = momentOut.meta({
  description: 'The start of the day in UTC',
  example: '2026-11-21T00:00:00.000Z',
})

const minorUnits = (description: string, example: number) =>
  z.int().meta({ description: `${description}, in minor units`, example })

const insightsOut = z
  .object({
    from: momentOut.meta({
      description: 'The start of the first day',
      example: '2026-11-21T00:00:00.000Z',
    }),
    to: momentOut.meta({ description: 'The end of the last day', example: '2026-11-22T00:00:00.000Z' }),
    sales: z
      .array(
        z.object({
          day,
          provider: z.string(),
          productId: z.string().nullable().meta({
            description: 'The id of the product; null for sales that are mapped to no product yet',
            example: 'editor',
          }),
          currency: z.string().meta({ example: 'usd' }),
          sales: z.int().meta({ description: 'First payments', example: 3 }),
          payments: z.int().meta({ description: 'All payments, renewals among them', example: 5 }),
          paid: minorUnits('The sum of these payments', 24_500),
          returned: minorUnits('What went back of these payments since, by refunds and lost disputes', 4900),
        }),
      )
      .meta({ description: 'By the day of the payment; days without payments are left out' }),
    licenses: z
      .array(
        z.object({
          day,
          issued: z.int().meta({ description: 'Licenses that were issued', example: 4 }),
          renewed: z.int().meta({ description: 'Licenses that were renewed', example: 2 }),
        }),
      )
      .meta({ description: 'By day' }),
    activeLicenses: z
      .array(
        z.object({
          productId: z.string(),
          active: z.int().meta({
            description: 'Neither revoked nor suspended, and expire today or later',
            example: 87,
          }),
          expiring: z.int().meta({ description: 'Those of them that expire within 30 days', example: 6 }),
        }),
      )
      .meta({ description: 'Now, independent of the range' }),
    versions: z
      .array(
        z.object({
          appVersion: z.string().nullable(),
          platform: z.string().nullable(),
          devices: z.int().meta({
            description: 'Devices that reported a version for the first time',
            example: 9,
          }),
        }),
      )
      .meta({ description: 'By version of the app and platform, over the whole range' }),
    trials: z
      .array(
        z.object({
          day,
          started: z.int().meta({ description: 'Installs that were first seen on trial', example: 21 }),
          licensed: z.int().meta({
            description: 'Installs on which a license was first activated',
            example: 4,
          }),
        }),
      )
      .meta({ description: 'By day' }),
  })
  .meta({ id: 'Insights', description: 'Figures of sales, licenses, versions and trials in a range' })

const insightsQuery = z.strictObject({
  from: momentIn.optional().meta({ description: 'The day in UTC that contains this time is the first one' }),
  to: momentIn.optional().meta({
    description: 'Days that start at or after this time, or in the future, are left out; defaults to now',
  }),
})

/** The figures of the dashboard's page Insights. */
export function insightRoutes(app: ZodApp, ports: Ports<'db' | 'now'>): void {
  app.get(
    '/v1/insights',
    {
      config: { scope: ['usage:read', 'licenses:read'] },
      schema: {
        operationId: 'readInsights',
        tags: ['Usage'],
        summary: 'Read sales, licenses, app versions and trials by day, in UTC',
        description:
          `At most ${maxPoints} days; defaults to the last 30. Test purchases and test licenses do not count. ` +
          'Amounts of different currencies are separate.',
        querystring: insightsQuery,
        response: { 200: answer('The figures', insightsOut), ...errors(400, 403, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const now = momentOf(ports)
      const range = requireRange({ ...request.query, granularity: 'day' }, now)
      const days = pointsIn(range).map((point) => point.slice(0, 10))
      const [first = '', last = ''] = [days[0], days.at(-1)]
      const figures = await readFigures(ports.db, tenantId, { from: first, to: last }, now.slice(0, 10))
      return {
        from: range.from,
        to: range.to,
        sales: figures.sales.map(fromMidnight),
        licenses: figures.licenses.map(fromMidnight),
        activeLicenses: [...figures.present],
        versions: [...figures.versions],
        trials: figures.trials.map(({ converted, ...row }) => fromMidnight({ ...row, licensed: converted })),
      }
    },
  )
}

const fromMidnight = <Row extends { day: string }>(row: Row): Row => ({
  ...row,
  day: `${row.day}T00:00:00.000Z`,
})
