import { z } from 'zod'
import { countActiveDevices } from '../../../projections/licenses/active-devices.ts'
import { momentOf, type Services } from '../../commands/services.ts'
import { planLimits } from '../../domain/tenant/tenant.ts'
import { Slug } from '../../domain/values.ts'
import { mostPoints, type UsageRange, usageRange } from '../../usage/range.ts'
import { readUsage } from '../../usage/read.ts'
import { callerIn } from '../authenticate.ts'
import { Problem } from '../problem.ts'
import { answer, errors, inUtc, momentIn, momentOut } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'
import { requireProduct } from './products.ts'

/** Often enough for a picture that moves; a client that asks again sooner is answered all the same. */
const askAgainSeconds = 10

const counts = {
  activations: z.int(),
  deactivations: z.int(),
  validations: z.int().meta({ description: 'Validates whose answer was yes' }),
  rejected: z.int().meta({ description: 'Validates whose answer was no' }),
}

const granularity = z.enum(['hour', 'day'])

const usageOut = z
  .object({
    from: momentOut.meta({ description: 'Where the first point begins' }),
    to: momentOut.meta({ description: 'Where the last point ends' }),
    granularity,
    totals: z.object({
      ...counts,
      activeDevices: z.int().meta({ description: 'In seats at this moment, whatever the range' }),
    }),
    series: z.array(z.object({ at: momentOut.meta({ description: 'Where the point begins' }), ...counts })),
    limits: z.object({
      devices: z.object({
        used: z.int().meta({ description: 'Of the whole tenant, as the plan counts' }),
        max: z.int().nullable().meta({ description: 'null for a plan without a limit' }),
      }),
    }),
  })
  .meta({ id: 'Usage' })

const usageQuery = z.strictObject({
  product: Slug.optional(),
  from: momentIn.optional().meta({ description: 'The hour or day of this moment is the first' }),
  to: momentIn
    .optional()
    .meta({ description: 'What begins at this moment or ahead of now is left out; now when absent' }),
  granularity: granularity.default('day'),
})

export function usageRoutes(app: ZodApp, services: Services): void {
  app.get(
    '/v1/usage',
    {
      config: { scope: 'usage:read' },
      schema: {
        operationId: 'readUsage',
        tags: ['Usage'],
        summary: 'Count activations and validations by hour or day, in UTC',
        description:
          `Whole hours or days, at most ${mostPoints} of them: the last 30 days, or the last 24 hours, unless asked otherwise. ` +
          'What another process counted less than a second ago may be missing.',
        querystring: usageQuery,
        response: {
          200: {
            ...answer('The counts', usageOut),
            headers: {
              'Retry-After': { type: 'integer', description: 'Seconds to wait before asking again' },
            },
          },
          ...errors(400, 403, 404, 422),
        },
      },
    },
    async (request, reply) => {
      const { tenantId, plan } = callerIn(request)
      const { product } = request.query
      if (product !== undefined) await requireProduct(services, tenantId, product)
      const range = rangeOf(request.query, momentOf(services))
      await services.usage.flush()
      const [{ totals, series }, activeDevices, used] = await Promise.all([
        readUsage(services.db, tenantId, product, range),
        countActiveDevices(services.db, tenantId, product),
        countActiveDevices(services.db, tenantId),
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

/** @throws Problem 422 for a range that nothing can be told of */
function rangeOf({ from, to, granularity: by }: z.infer<typeof usageQuery>, now: string): UsageRange {
  const range = usageRange({ from: from && inUtc(from), to: to && inUtc(to), granularity: by }, now)
  if (typeof range === 'string') throw new Problem(422, 'invalid_request', whyNot[range])
  return range
}

const whyNot = {
  empty: 'from must lie before to, and not ahead of now',
  'too early': 'from must not lie before 1970',
  'too long': `that is more than ${mostPoints} points; take a shorter range, or a coarser granularity`,
}
