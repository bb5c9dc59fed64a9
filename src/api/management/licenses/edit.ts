import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { LicenseEntry } from '../../../../projections/licenses/queries.ts'
import { editLicense, resumeLicense, suspendLicense } from '../../../commands/licenses/edit.ts'
import type { LicensePorts } from '../../../commands/licenses/licenses.ts'
import { momentOf } from '../../../commands/origin.ts'
import { DeviceLimit } from '../../../domain/products/key-type.ts'
import { EmailAddress, Slug } from '../../../domain/values.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf, runPorts } from '../../../http/idempotency.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors, inUtc, metadataIn, momentIn, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { unknownPerson } from '../../../vault/subjects.ts'
import { requireLicenseId } from './licenses.ts'
import { quantityIn } from './schemas.ts'

const params = z.strictObject({ id: z.string() })

const reason = text(500).optional().meta({ description: "Shown in the license's history" })

const editIn = z
  .strictObject({
    keyTypeId: Slug.optional().meta({ description: 'The id of another key type of the same product' }),
    quantity: quantityIn.meta({ description: 'The number of units' }),
    deviceLimit: DeviceLimit.nullable().optional().meta({
      description: 'null is unlimited. Fewer than the seats in use lowers the limit and frees none',
    }),
    expiresAt: momentIn
      .nullable()
      .optional()
      .meta({ description: 'null is perpetual; truncated to the second' }),
    updatesUntil: momentIn.nullable().optional().meta({
      description:
        'The last moment of a build that the license covers; truncated to the second. null covers every build; absent keeps it',
    }),
    email: EmailAddress.nullable().optional().meta({ description: 'null removes the person' }),
    name: text(200)
      .nullable()
      .optional()
      .meta({ description: 'The name of the person; stored only together with an email address' }),
    metadata: metadataIn.optional().meta({ description: 'Replaces all of it' }),
    reason,
  })
  .meta({ example: { expiresAt: '2028-01-31T00:00:00.000Z', reason: 'a month for the outage' } })

const reasonIn = z
  .strictObject({ reason })
  .nullish()
  .meta({ example: { reason: 'invoice 2026-117 is unpaid' } })

/** One for each route, because an object that several share is described for the first of them only. */
const oneLicense = (example?: object) => answer('The license', z.object({ license: licenseOut }), example)

const suspended = {
  license: { status: 'suspended', entitlements: [], suspendedAt: '2026-11-24T14:05:12.000Z' },
}

export function licenseEditRoutes(app: ZodApp, ports: LicensePorts): void {
  editRoute(app, ports)
  suspendRoute(app, ports)
  resumeRoute(app, ports)
}

function editRoute(app: ZodApp, ports: LicensePorts): void {
  app.patch(
    '/v1/licenses/:id',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'updateLicense',
        tags: ['Licenses'],
        summary: 'Change a license; omitted fields keep their value',
        description:
          "Another key type or quantity sets the device limit to the key type's limit times the quantity, unless `deviceLimit` is " +
          'sent too. The expiry stays unless it is sent. What is set here stays until the sale of the license entitles to ' +
          'something else, and a renewal never shortens it. A revoked license gets 409.',
        params,
        body: editIn,
        response: { 200: oneLicense(), ...errors(400, 403, 404, 409, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const { reason: why, expiresAt, updatesUntil, ...change } = request.body
      const input = { tenantId, licenseId, reason: why ?? null }
      const wanted = {
        ...change,
        expiresAt: expiresAt && inUtc(expiresAt),
        updatesUntil: updatesUntil && inUtc(updatesUntil),
      }
      return shown(ports, await editLicense(ports, input, wanted, runOriginOf(request)))
    },
  )
}

function suspendRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'subjects'>,
) {
  app.post(
    '/v1/licenses/:id/suspend',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'suspendLicense',
        tags: ['Licenses'],
        summary: 'Suspend a license until it is resumed; repeating it changes nothing',
        description:
          'Validates then get `status: inactive` and `reason: suspended`, and no device is activated. The devices keep their seats, ' +
          'and the expiry does not wait. A revoked license gets 409.',
        params,
        body: reasonIn,
        response: { 200: oneLicense(suspended), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const own = runPorts(request, ports)
      return shown(own, await suspendLicense(own, reasonInput(request), runOriginOf(request)))
    },
  )
}

function resumeRoute(
  app: ZodApp,
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'randomBytes' | 'subjects'>,
) {
  app.post(
    '/v1/licenses/:id/resume',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'resumeLicense',
        tags: ['Licenses'],
        summary: 'Resume a suspended license; one that is not suspended is left unchanged',
        description: 'An expiry that passed meanwhile is not moved: extend the license with PATCH.',
        params,
        body: reasonIn,
        response: { 200: oneLicense(), ...errors(400, 403, 404, 409) },
      },
    },
    async (request) => {
      const own = runPorts(request, ports)
      return shown(own, await resumeLicense(own, reasonInput(request), runOriginOf(request)))
    },
  )
}

type ReasonRequest = FastifyRequest<{
  Params: { id: string }
  Body: { reason?: string | undefined } | null | undefined
}>

const reasonInput = (request: ReasonRequest) => ({
  tenantId: callerIn(request).tenantId,
  licenseId: requireLicenseId(request.params.id),
  reason: request.body?.reason ?? null,
})

async function shown(ports: Ports<'now' | 'subjects'>, entry: LicenseEntry) {
  const { tenantId, holder } = entry.license
  const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [holder])
  return { license: licenseView(entry, person, momentOf(ports)) }
}
