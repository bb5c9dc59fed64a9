import { z } from 'zod'
import { findLicense } from '../../../projections/licenses/queries.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { notFound } from '../../http/problem.ts'
import { answer, errors, momentOut, pageOf, pageQuery, productQuery, text } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { listRefusals, listRefusedByDay, listUnknownKeys } from '../../usage/read-refusals.ts'
import { callNames, refusingInterfaces } from '../../usage/refusals.ts'
import { requireLicenseId } from './licenses/licenses.ts'
import { answerPage } from './page.ts'
import { requireProduct } from './products/products.ts'

const call = z.enum(callNames).meta({ description: 'The call that was refused', example: 'activate' })
const reason = z.string().meta({
  description: 'The reason that the runtime interface returns for it; more may be added',
  example: 'seat_limit_reached',
})
const count = z.int().meta({ description: 'How often it was refused', example: 4 })

const refusalOut = z
  .object({
    licenseId: z.string(),
    displayKey: z.string(),
    productId: z.string(),
    device: z
      .object({
        id: z.string().meta({
          description: 'The id that the call sent; else the name of the device',
          example: 'machine-9c41',
        }),
        name: z.string().nullable().meta({
          description: 'The label that the call sent; null without one',
          example: 'iMac',
        }),
      })
      .nullable()
      .meta({ description: 'The device that was refused; null for a validate without a device' }),
    call,
    reason,
    interface: z.enum(refusingInterfaces).meta({
      description: 'The interface of the last of these calls: `runtime` for servers, `client` for apps',
      example: 'client',
    }),
    appVersion: z.string().nullable(),
    sdkVersion: z.string().nullable(),
    platform: z.string().nullable(),
    count,
    firstSeenAt: momentOut,
    lastSeenAt: momentOut,
  })
  .meta({ id: 'Refusal', description: 'Refused calls of one device, license, call and reason' })

const refusedDayOut = z
  .object({
    day: momentOut.meta({ description: 'The start of the day in UTC' }),
    productId: z.string(),
    call,
    reason,
    count,
  })
  .meta({ id: 'RefusedCalls', description: 'How many calls were refused on a day' })

const unknownKeyOut = z
  .object({
    day: momentOut.meta({ description: 'The start of the day in UTC' }),
    productId: z.string(),
    displayKey: z.string().nullable().meta({
      example: 'ACME…9XQ4',
      description: 'The masked form; null for all further keys of a day, of which 200 are listed',
    }),
    count,
    firstSeenAt: momentOut,
    lastSeenAt: momentOut,
  })
  .meta({ id: 'UnknownKey', description: 'A key that was sent on a day and that no license has' })

const isKept =
  'Not part of the log: kept for 90 days after the last call, and per license and tenant in limited number. ' +
  'Calls of the last second of another process may be missing.'

type Services = Ports<'db' | 'findProduct' | 'refusals'>

/** Refused calls of validate and activate: of a license, of all licenses, by day, and with unknown keys. */
export function refusalRoutes(app: ZodApp, ports: Services, cursors: Cursors): void {
  ofLicenseRoute(app, ports, cursors)
  refusalsRoute(app, ports, cursors)
  byDayRoute(app, ports, cursors)
  unknownKeysRoute(app, ports, cursors)
}

function ofLicenseRoute(app: ZodApp, ports: Services, cursors: Cursors): void {
  app.get(
    '/v1/licenses/:id/refusals',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listRefusalsOfLicense',
        tags: ['Refusals'],
        summary: 'List the refused calls of a license by device, call and reason, newest first',
        description: isKept,
        params: z.strictObject({ id: z.string() }),
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of refusals', pageOf(refusalOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      if (!(await findLicense(ports.db, tenantId, licenseId))) throw notFound('license')
      await ports.refusals.flush()
      return answerPage(
        cursors,
        [tenantId, 'refusals', licenseId],
        request.query,
        (keyset) => listRefusals(ports.db, tenantId, { licenseId }, keyset),
        (refusals) => refusals.map(refusalView),
      )
    },
  )
}

function refusalsRoute(app: ZodApp, ports: Services, cursors: Cursors): void {
  const listQuery = z.strictObject({
    ...pageQuery,
    product: productQuery,
    call: call.optional().meta({ description: 'Only refusals of this call' }),
    reason: text(40)
      .optional()
      .meta({ description: 'Only refusals with this reason', example: 'seat_limit_reached' }),
  })
  app.get(
    '/v1/refusals',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listRefusals',
        tags: ['Refusals'],
        summary: 'List the refused calls of all licenses by device, call and reason, newest first',
        description: isKept,
        querystring: listQuery,
        response: { 200: answer('A page of refusals', pageOf(refusalOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { product: productId, call: of, reason: why } = request.query
      await flushRefusalsOf(ports, tenantId, productId)
      return answerPage(
        cursors,
        [tenantId, 'refusals', productId ?? null, of ?? null, why ?? null],
        request.query,
        (keyset) => listRefusals(ports.db, tenantId, { productId, call: of, reason: why }, keyset),
        (refusals) => refusals.map(refusalView),
      )
    },
  )
}

const ofProductQuery = z.strictObject({ ...pageQuery, product: productQuery })

function byDayRoute(app: ZodApp, ports: Services, cursors: Cursors): void {
  app.get(
    '/v1/refusals/days',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listRefusedCallsByDay',
        tags: ['Refusals'],
        summary: 'Count refused calls by day, product, call and reason, newest day first',
        description: 'Counts every refused call, also those with an unknown key (`not_found`).',
        querystring: ofProductQuery,
        response: { 200: answer('A page of counts', pageOf(refusedDayOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { product } = request.query
      await flushRefusalsOf(ports, tenantId, product)
      return answerPage(
        cursors,
        [tenantId, 'refused calls', product ?? null],
        request.query,
        (keyset) => listRefusedByDay(ports.db, tenantId, product, keyset),
        (days) => days,
      )
    },
  )
}

function unknownKeysRoute(app: ZodApp, ports: Services, cursors: Cursors): void {
  app.get(
    '/v1/refusals/unknown-keys',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'listUnknownKeys',
        tags: ['Refusals'],
        summary: 'List the keys that no license has, by product and day, newest first',
        description: 'Only the masked form of a key is kept, for 90 days.',
        querystring: ofProductQuery,
        response: { 200: answer('A page of unknown keys', pageOf(unknownKeyOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { product } = request.query
      await flushRefusalsOf(ports, tenantId, product)
      return answerPage(
        cursors,
        [tenantId, 'unknown keys', product ?? null],
        request.query,
        (keyset) => listUnknownKeys(ports.db, tenantId, product, keyset),
        (keys) => keys.map(({ displayKey: masked, ...key }) => ({ ...key, displayKey: masked || null })),
      )
    },
  )
}

/**
 * Makes this process's own counts readable, for a product that exists or for all.
 * @throws Problem 404 for an unknown product
 */
async function flushRefusalsOf(
  ports: Services,
  tenantId: string,
  product: string | undefined,
): Promise<void> {
  if (product !== undefined) await requireProduct(ports, tenantId, product)
  await ports.refusals.flush()
}

type Refused = Awaited<ReturnType<typeof listRefusals>>['items'][number]

const refusalView = ({ deviceId, deviceName, ...refusal }: Refused): z.infer<typeof refusalOut> => ({
  ...refusal,
  device: deviceId === '' ? null : { id: deviceId, name: deviceName },
})
