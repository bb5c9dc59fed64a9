import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import type { SeatScope } from '../../../projections/seats/queries.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { momentOf } from '../../commands/origin.ts'
import { refusedWith } from '../../domain/licenses/seat-places.ts'
import { SlugInPath } from '../../domain/values.ts'
import { callerIn } from '../../http/authenticate.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { answer, errors, momentIn, momentOut, numberIn } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { maxSeatPoints, type SeatGranularity, type UsageRange } from '../../usage/range.ts'
import { maxWhatIfDays, readPlaces, readSeatUse } from '../../usage/read-seats.ts'
import { requireCustomerId } from './customers/schemas.ts'
import { requireLicenseId } from './licenses/licenses.ts'
import { requireSeatRange } from './page.ts'
import { requireProduct } from './products/products.ts'

const seatUseShape = {
  from: momentOut.meta({ description: 'The start of the first point', example: '2026-10-23T00:00:00.000Z' }),
  to: momentOut.meta({ description: 'The end of the last point', example: '2026-11-22T00:00:00.000Z' }),
  granularity: z.enum(['minute', 'hour', 'day']).meta({
    description: 'How long one point is: the finest length that needs at most 1,500 points',
    example: 'hour',
  }),
  licenses: z.int().meta({
    description: 'Licenses with floating seats that devices can take now',
    example: 1,
  }),
  inUse: z.int().meta({ description: 'Seats that devices have taken at the server now', example: 7 }),
  atRelays: z.int().meta({
    description:
      'Seats that relays have now, whether or not they gave them out; they count toward the limit too',
    example: 0,
  }),
  limit: z.int().nullable().meta({
    description: 'The device limits of these licenses together; null when one has none',
    example: 10,
  }),
  overdraft: z.int().meta({ description: 'How many seats may be taken above the limit', example: 1 }),
  points: z
    .array(
      z.object({
        at: momentOut.meta({ description: 'The start of the point', example: '2026-10-23T00:00:00.000Z' }),
        peak: z.int().meta({
          description: 'The most seats in use at once, those that relays reported included',
          example: 9,
        }),
        denied: z.int().meta({
          description:
            'Calls that the server and relays refused with `seat_limit_reached`, repeated ones each time',
          example: 0,
        }),
      }),
    )
    .meta({ description: 'Oldest first' }),
}

const seatUseOut = z
  .object(seatUseShape)
  .meta({ id: 'SeatUse', description: 'Floating seats in use over a range' })

const licenseSeatUseOut = z
  .object({
    ...seatUseShape,
    whatIf: z
      .object({
        seats: z.int().meta({ description: 'The number of seats that was asked for', example: 8 }),
        takings: z.int().meta({ description: 'Seats that were taken in the range', example: 340 }),
        refused: z
          .int()
          .meta({ description: 'How many of them so many seats would have refused', example: 12 }),
      })
      .optional()
      .meta({ description: 'Absent unless `seats` was sent' }),
  })
  .meta({ id: 'LicenseSeatUse', description: 'Floating seats of a license in use over a range' })

const rangeShape = {
  from: momentIn.optional().meta({
    description:
      'The first point contains this time; defaults to 30 days before the end, and is at most 400 days ago',
  }),
  to: momentIn
    .optional()
    .meta({ description: 'Points that start at or after this time are left out; defaults to now' }),
}

const licenseQuery = z.strictObject({
  ...rangeShape,
  seats: numberIn(0, 200_000)
    .optional()
    .meta({
      description: `Also says how many takings of the range so many seats would have refused; for at most ${maxWhatIfDays} days`,
      example: 8,
    }),
})

const howCounted =
  `Minutes, hours or days in UTC, at most ${maxSeatPoints} points, kept for 400 days. A seat that ran out counts until that is recorded, ` +
  'up to 30 seconds after its end. What relays have not reported yet is missing.'

const ofSeveral = `${howCounted} The peaks of the licenses are added up by the minute; test licenses do not count.`

type Services = Ports<'db' | 'findProduct' | 'now' | 'refusals'>

/** The seats in use of licenses whose seats float: of one license, of a product, and of a customer. */
export function seatRoutes(app: ZodApp, ports: Services): void {
  ofLicenseRoute(app, ports)
  ofProductRoute(app, ports)
  ofCustomerRoute(app, ports)
}

function ofLicenseRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/licenses/:id/seats',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'readSeatsOfLicense',
        tags: ['Usage'],
        summary:
          'Read the floating seats of a license in use over time, and what fewer seats would have refused',
        description: `${howCounted} A license whose devices keep their seats gets 409.`,
        params: z.strictObject({ id: z.string() }),
        querystring: licenseQuery,
        response: { 200: answer('The seats in use', licenseSeatUseOut), ...errors(400, 403, 404, 409, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const found = await findLicense(ports.db, tenantId, licenseId)
      if (!found) throw notFound('license')
      if (found.license.floating === null) throw notFloating()
      const { seats, ...asked } = request.query
      const now = momentOf(ports)
      const range = requireSeatRange(asked, now)
      const use = await seatUse(ports, { tenantId, licenseId }, range, now)
      return seats === undefined ? use : { ...use, whatIf: await whatIf(ports, licenseId, range, seats) }
    },
  )
}

const notFloating = () =>
  new Problem(
    409,
    'invalid_request',
    'the seats of this license do not float: devices keep them, and `seatsUsed` of the license says how many',
  )

async function whatIf(
  { db }: Ports<'db'>,
  licenseId: string,
  range: UsageRange<SeatGranularity>,
  seats: number,
) {
  const places = await readPlaces(db, licenseId, range)
  if (typeof places === 'string') throw new Problem(422, 'invalid_request', whatIfProblems[places])
  return { seats, takings: places.takings, refused: refusedWith(places, seats) }
}

const whatIfProblems = {
  'too long': `with seats, the range has at most ${maxWhatIfDays} days; choose a later from`,
  'too many': 'the license has too many events in the range; choose a shorter one',
}

function ofProductRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/products/:productId/seats',
    {
      config: { scope: ['products:read', 'licenses:read'] },
      schema: {
        operationId: 'readSeatsOfProduct',
        tags: ['Usage'],
        summary: "Read the floating seats of a product's licenses in use over time",
        description: ofSeveral,
        params: z.strictObject({ productId: SlugInPath }),
        querystring: z.strictObject(rangeShape),
        response: { 200: answer('The seats in use', seatUseOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      await requireProduct(ports, tenantId, productId)
      const now = momentOf(ports)
      return seatUse(ports, { tenantId, productId }, requireSeatRange(request.query, now), now)
    },
  )
}

function ofCustomerRoute(app: ZodApp, ports: Services): void {
  app.get(
    '/v1/customers/:id/seats',
    {
      config: { scope: ['customers:read', 'licenses:read'] },
      schema: {
        operationId: 'readSeatsOfCustomer',
        tags: ['Usage'],
        summary: "Read the floating seats of a customer's licenses in use over time",
        description: `${ofSeveral} Licenses that are linked to the customer now count.`,
        params: z.strictObject({ id: z.string() }),
        querystring: z.strictObject(rangeShape),
        response: { 200: answer('The seats in use', seatUseOut), ...errors(400, 403, 404, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const customerId = requireCustomerId(request.params.id)
      await requireCustomer(ports, tenantId, customerId)
      const now = momentOf(ports)
      return seatUse(ports, { tenantId, customerId }, requireSeatRange(request.query, now), now)
    },
  )
}

async function seatUse(
  ports: Ports<'db' | 'refusals'>,
  scope: SeatScope,
  range: UsageRange<SeatGranularity>,
  now: string,
) {
  await ports.refusals.flush()
  const { from, to, granularity } = range
  return { from, to, granularity, ...(await readSeatUse(ports.db, scope, range, now)) }
}
