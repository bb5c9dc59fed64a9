import { z } from 'zod'
import { countActiveDevices, countSeatedDevices } from '../../../projections/licenses/active-devices.ts'
import { momentOf } from '../../commands/origin.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import { callerIn } from '../../http/authenticate.ts'
import { answer, errors, momentIn, momentOut, productQuery } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { maxPoints } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import { requireRange } from './page.ts'
import { requireProduct } from './products/products.ts'

/** How often a live chart should poll. Faster polling is not refused. */
const askAgainSeconds = 10

const counts = {
  activations: z.int().meta({ description: 'Devices that were activated', example: 12 }),
  deactivations: z.int().meta({ description: 'Devices that were deactivated', example: 3 }),
  validations: z.int().meta({ description: 'Validations that returned valid', example: 418 }),
  rejected: z.int().meta({ description: 'Validations that returned not valid', example: 7 }),
}

const granularity = z.enum(['hour', 'day']).meta({ description: 'How long one point is', example: 'day' })

const usageOut = z
  .object({
    from: momentOut.meta({
      description: 'The start of the first point',
      example: '2026-11-21T00:00:00.000Z',
    }),
    to: momentOut.meta({ description: 'The end of the last point', example: '2026-11-22T00:00:00.000Z' }),
    granularity,
    totals: z
      .object({
        ...counts,
        activeDevices: z.int().meta({
          example: 96,
          description: 'Devices that have a seat of a license that is valid now, independent of the range',
        }),
      })
      .meta({ description: 'The sums over the range' }),
    series: z
      .array(
        z.object({
          at: momentOut.meta({ description: 'The start of the point', example: '2026-11-21T00:00:00.000Z' }),
          ...counts,
        }),
      )
      .meta({ description: 'The points, oldest first; those without calls are 0' }),
    limits: z
      .object({
        devices: z
          .object({
            used: z.int().meta({
              example: 104,
              description:
                'Devices in the seats of all licenses of the tenant, as the plan counts them: also of licenses that expired, are suspended or were revoked, which may come back',
            }),
            max: z.int().nullable().meta({
              description: 'How many the plan allows; null for a plan without a limit',
              example: 1000,
            }),
          })
          .meta({ description: 'The devices of the whole tenant' }),
      })
      .meta({ description: 'What the plan of the tenant allows' }),
  })
  .meta({ id: 'Usage', description: 'Counts of calls in a range' })

const usageQuery = z.strictObject({
  product: productQuery,
  from: momentIn
    .optional()
    .meta({ description: 'The hour or day that contains this time is the first point' }),
  to: momentIn.optional().meta({
    description: 'Points that start at or after this time, or in the future, are left out; defaults to now',
  }),
  granularity: granularity.default('day').meta({ description: 'How long one point is' }),
})

export function usageRoutes(app: ZodApp, ports: Ports<'db' | 'findProduct' | 'now' | 'usage'>): void {
  app.get(
    '/v1/usage',
    {
      config: { scope: 'usage:read' },
      schema: {
        operationId: 'readUsage',
        tags: ['Usage'],
        summary: 'Count activations and validations by hour or day, in UTC',
        description:
          `Whole hours or days, at most ${maxPoints} points; defaults to the last 30 days, or the last 24 hours. ` +
          'Counts of the last second from another process may be missing.',
        querystring: usageQuery,
        response: {
          200: {
            ...answer('The counts', usageOut),
            headers: {
              'Retry-After': { type: 'integer', description: 'Seconds to wait before the next request' },
            },
          },
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId, plan } = callerIn(request)
      const { product } = request.query
      if (product !== undefined) await requireProduct(ports, tenantId, product)
      const range = requireRange(request.query, momentOf(ports))
      await ports.usage.flush()
      const [{ totals, series }, activeDevices, used] = await Promise.all([
        readUsage(ports.db, tenantId, product, range),
        countActiveDevices(ports.db, tenantId, product),
        countSeatedDevices(ports.db, tenantId),
      ])
      const most = planLimits[plan].activeDevices
      const { from, to } = range
      return reply.header('retry-after', String(askAgainSeconds)).send({
        from,
        to,
        granularity: range.granularity,
        totals: { ...totals, activeDevices },
        series,
        limits: { devices: { used, max: Number.isFinite(most) ? most : null } },
      })
    },
  )
}
