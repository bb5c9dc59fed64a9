import { z } from 'zod'
import { listReleases as readReleases } from '../../../../projections/products/releases.ts'
import { listReleases } from '../../../commands/products.ts'
import { maxReleases, Release, ReleaseChannel, ReleaseUrl } from '../../../domain/products/releases.ts'
import { SlugInPath } from '../../../domain/values.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { answer, errors, inUtc, momentIn, momentOut } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { requireProduct } from './products.ts'

const path = '/v1/products/:productId/releases'
const params = z.strictObject({ productId: SlugInPath })

/** The list is one event, and the event store accepts 1 MiB per append. */
const maxBytes = 512 * 1024

const words = {
  version: { description: 'The version, as people read it; once in each channel', example: '3.4.1' },
  channel: { description: 'The channel that it was released on', example: 'stable' },
  url: {
    description: 'Where customers get it; null if they are not told',
    example: 'https://acme.example/3.4.1',
  },
}

const releaseIn = z.strictObject({
  version: Release.shape.version.meta(words.version),
  builtAt: momentIn.meta({ description: 'When it was built: licenses whose updates end later cover it' }),
  channel: ReleaseChannel.default('stable').meta(words.channel),
  url: ReleaseUrl.nullable().default(null).meta(words.url),
})

const releasesIn = z
  .strictObject({
    releases: z
      .array(releaseIn)
      .max(maxReleases)
      .refine(
        (list) => new Set(list.map(({ version, channel }) => `${channel} ${version}`)).size === list.length,
        'must name each version once in its channel',
      )
      .refine(
        (list) => Buffer.byteLength(JSON.stringify(list)) <= maxBytes,
        'must be at most 512 KiB; leave out the oldest releases',
      )
      .meta({ description: 'All releases, in any order; they replace the list' }),
  })
  .meta({
    example: {
      releases: [
        { version: '3.4.1', builtAt: '2026-11-21T09:30:00.000Z', url: 'https://acme.example/3.4.1' },
      ],
    },
  })

/** One for each route, because an object that several share is described for the first of them only. */
const releasesOut = () =>
  z.object({
    releases: z
      .array(
        z.object({
          version: z.string().meta(words.version),
          builtAt: momentOut.meta({ description: 'When it was built' }),
          channel: z.string().meta(words.channel),
          url: z.string().nullable().meta(words.url),
        }),
      )
      .meta({ description: 'The releases, newest first' }),
  })

/** Which builds of a product its customers can get. */
export function releaseRoutes(app: ZodApp, ports: Ports<'db' | 'execute' | 'findProduct' | 'now'>): void {
  app.get(
    path,
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'listReleases',
        tags: ['Products'],
        summary: "List a product's releases, newest first",
        description: 'All of them, on one page: at most 1,000.',
        params,
        response: { 200: answer('The releases', releasesOut()), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = await requireProduct(ports, tenantId, request.params.productId)
      return { releases: await readReleases(ports.db, tenantId, productId) }
    },
  )
  app.put(
    path,
    {
      config: { scope: 'products:write', dryRun: true, mostFields: 6 * maxReleases },
      schema: {
        operationId: 'setReleases',
        tags: ['Products'],
        summary: "Replace the list of a product's releases",
        description:
          'A customer whose license does not cover a build is told the newest release that it covers. The same list again changes nothing.',
        params,
        body: releasesIn,
        response: { 200: answer('The releases', releasesOut()), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { productId } = request.params
      const releases = request.body.releases.map(({ builtAt, ...release }) => ({
        ...release,
        builtAt: inUtc(builtAt),
      }))
      await listReleases(ports, { tenantId, productId }, releases, originOf(request))
      return { releases: await readReleases(ports.db, tenantId, productId) }
    },
  )
}
