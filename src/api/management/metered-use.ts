import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import type { MeterScope } from '../../../projections/meters/use-queries.ts'
import { catchUpWithLog } from '../../commands/cross-stream/read-models.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { momentOf } from '../../commands/origin.ts'
import { amountText } from '../../domain/meters/amount.ts'
import { SlugInPath } from '../../domain/values.ts'
import { callerIn } from '../../http/authenticate.ts'
import { amountOut, meterName } from '../../http/licenses/meters.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors, momentIn, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { maxPoints, type UsageRange } from '../../usage/range.ts'
import { readMeteredUse } from '../../usage/read-metered.ts'
import { requireCustomerId } from './customers/schemas.ts'
import { requireLicenseId } from './licenses/licenses.ts'
import { requireRange } from './page.ts'
import { requireProduct } from './products/products.ts'

const granularity = z.enum(['hour', 'day']).meta({ description: 'How long one point is', example: 'day' })

const sums = {
  used: amountOut.meta({
    description: 'How much was used; less than 0 where more was corrected',
    example: '412.5',
  }),
  overage: amountOut.meta({
    description: 'How much of it is beyond what was included and prepaid',
    example: '0',
  }),
}

const useShape = {
  productId: z.string().nullable().meta({
    description: 'The product of the licenses; null for a meter that the licenses of a customer share',
    example: 'editor',
  }),
  meter: meterName,
  unit: z.string().meta({ description: 'What is counted', example: 'calls' }),
  ...sums,
  points: z
    .array(
      z.object({
        at: momentOut.meta({ description: 'The start of the point', example: '2026-11-21T00:00:00.000Z' }),
        ...sums,
      }),
    )
    .meta({ description: 'Oldest first; those in which nothing was used are 0' }),
}

const useOfSeveral = {
  ...useShape,
  heaviest: z
    .array(
      z.object({
        licenseId: z
          .string()
          .meta({ description: 'The id of the license', example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
        ...sums,
      }),
    )
    .meta({ description: 'The ten licenses that used most in the range, the first one first' }),
}

const useOut = <Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z
    .object({
      from: momentOut.meta({
        description: 'The start of the first point',
        example: '2026-10-23T00:00:00.000Z',
      }),
      to: momentOut.meta({ description: 'The end of the last point', example: '2026-11-22T00:00:00.000Z' }),
      granularity,
      meters: z.array(z.object(shape)).meta({
        description: 'By product and meter; those under which nothing was counted in the range are left out',
      }),
    })
    .meta({ id, description })

const licenseUseOut = useOut(
  'LicenseMeteredUse',
  'What a license used under its meters over a range',
  useShape,
)
const severalUseOut = useOut('MeteredUse', 'What licenses used under their meters over a range', useOfSeveral)

const rangeQuery = z.strictObject({
  from: momentIn
    .optional()
    .meta({ description: 'The hour or day that contains this time is the first point' }),
  to: momentIn.optional().meta({
    description: 'Points that start at or after this time, or in the future, are left out; defaults to now',
  }),
  granularity: granularity.default('day').meta({ description: 'How long one point is' }),
})

const howCounted =
  `Whole hours or days in UTC, at most ${maxPoints} points; defaults to the last 30 days, or the last 24 hours. The sums are those of the lines, ` +
  'to the last digit: a use counts when it was used, or in the present period when its own was closed; a correction when it was made.'

const ofSeveral = `${howCounted} Test licenses do not count. A meter that the licenses of a customer share is listed by itself.`

type Services = Ports<'db' | 'findProduct' | 'ledger' | 'now' | 'untilVisible'>

/** What was used under meters over time: by a license, and by those of a product or a customer. */
export function meteredUseRoutes(app: ZodApp, ports: Services): void {
  ofLicenseRoute(app, ports)
  ofProductRoute(app, ports)
  ofCustomerRoute(app, ports)
}

function ofLicenseRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/licenses/:id/usage',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'readMeteredUseOfLicense',
        tags: ['Usage'],
        summary: 'Read what a license used under its meters by hour or day',
        description: howCounted,
        params: z.strictObject({ id: z.string() }),
        querystring: rangeQuery,
        response: { 200: answer('What was used', licenseUseOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      await catchUpWithLog(ports)
      if (!(await findLicense(ports.db, tenantId, licenseId))) throw notFound('license')
      return useIn(ports, { tenantId, licenseId }, requireRange(request.query, momentOf(ports)))
    },
  )
}

function ofProductRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/products/:productId/usage',
    {
      config: { scope: ['products:read', 'licenses:read'] },
      schema: {
        operationId: 'readMeteredUseOfProduct',
        tags: ['Usage'],
        summary: "Read what a product's licenses used under their meters by hour or day",
        description: ofSeveral,
        params: z.strictObject({ productId: SlugInPath }),
        querystring: rangeQuery,
        response: { 200: answer('What was used', severalUseOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      await requireProduct(ports, tenantId, productId)
      await catchUpWithLog(ports)
      return useIn(ports, { tenantId, productId }, requireRange(request.query, momentOf(ports)))
    },
  )
}

function ofCustomerRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/customers/:id/usage',
    {
      config: { scope: ['customers:read', 'licenses:read'] },
      schema: {
        operationId: 'readMeteredUseOfCustomer',
        tags: ['Usage'],
        summary: "Read what a customer's licenses used under their meters by hour or day",
        description: `${ofSeveral} Licenses that are linked to the customer now count.`,
        params: z.strictObject({ id: z.string() }),
        querystring: rangeQuery,
        response: { 200: answer('What was used', severalUseOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const customerId = requireCustomerId(request.params.id)
      await requireCustomer(ports, tenantId, customerId)
      await catchUpWithLog(ports)
      return useIn(ports, { tenantId, customerId }, requireRange(request.query, momentOf(ports)))
    },
  )
}

async function useIn({ db }: Ports<'db'>, scope: MeterScope, range: UsageRange) {
  const { from, to, granularity: length } = range
  const used = await readMeteredUse(db, scope, range)
  const meters = used.map(({ heaviest, points, ...meter }) => ({
    ...written(meter),
    points: points.map(written),
    heaviest: heaviest.map(written),
  }))
  return { from, to, granularity: length, meters }
}

const written = <Sums extends { used: bigint; overage: bigint }>({ used, overage, ...rest }: Sums) => ({
  ...rest,
  used: amountText(used),
  overage: amountText(overage),
})
