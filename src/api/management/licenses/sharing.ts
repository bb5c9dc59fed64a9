import { z } from 'zod'
import type { LicensePorts } from '../../../commands/licenses/licenses.ts'
import { allowSharing, noticePublishedKeys } from '../../../commands/licenses/sharing.ts'
import { momentOf } from '../../../commands/origin.ts'
import { callerIn } from '../../../http/authenticate.ts'
import { runOriginOf } from '../../../http/idempotency.ts'
import { licenseOut, licenseView } from '../../../http/licenses/license.ts'
import { answer, errors, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { unknownPerson } from '../../../vault/subjects.ts'
import { requireLicenseId } from './licenses.ts'

const allowIn = z
  .strictObject({
    allowed: z.boolean().meta({
      description: 'Whether it may be used as it is; `false` has the rules of its product notice it again',
      example: true,
    }),
    reason: text(500).optional().meta({ description: "Shown in the license's history" }),
  })
  .meta({ example: { allowed: true, reason: 'a team that travels' } })

const publishedIn = z
  .strictObject({
    found: z
      .array(text(200))
      .min(1)
      .max(1000)
      .meta({
        description:
          'The license keys that were found published, or the SHA-256 of each in hex, as its lease has it',
        example: ['ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7'],
      }),
  })
  .meta({ example: { found: ['ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7'] } })

const publishedOut = z.object({
  licenseIds: z.array(z.string()).meta({
    description: 'The licenses whose key was found: each has a notice now, or had it before',
    example: ['lic_06f5w3k8hx7vq2m4n9t1r0s5zc'],
  }),
  replaced: z.int().meta({ description: 'How many keys were replaced by a remint before', example: 0 }),
  unknown: z.int().meta({ description: 'How many are no key of a license', example: 12 }),
})

/** What a vendor does about licenses that look shared. */
export function licenseSharingRoutes(
  app: ZodApp,
  ports: LicensePorts & Ports<'findProduct' | 'keyHashing'>,
): void {
  app.post(
    '/v1/licenses/:id/allow-sharing',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'allowSharing',
        tags: ['Licenses'],
        summary: 'Allow a license that looks shared to be used as it is',
        description:
          'Closes its notices, and nothing more is noticed until `allowed` is `false` again. It resumes no license: a suspended one ' +
          'is resumed with its own call.',
        params: z.strictObject({ id: z.string() }),
        body: allowIn,
        response: {
          200: answer('The license', z.object({ license: licenseOut }), {
            license: { sharingAllowed: true },
          }),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const { allowed, reason = null } = request.body
      const entry = await allowSharing(ports, { tenantId, licenseId, allowed, reason }, runOriginOf(request))
      const [person = unknownPerson] = await ports.subjects.openPeople(tenantId, [entry.license.holder])
      return { license: licenseView(entry, person, momentOf(ports)) }
    },
  )
  app.post(
    '/v1/licenses/published-keys',
    {
      config: { scope: 'licenses:write', dryRun: true },
      schema: {
        operationId: 'reportPublishedKeys',
        tags: ['Licenses'],
        summary: 'Notice the licenses whose keys were found published',
        description:
          'For lists of keys that were found in public. A license is noticed once for its key, and suspended if the setting `keySharing` of ' +
          'its product says so. The list is not kept; sending it again changes nothing.',
        body: publishedIn,
        response: { 200: answer('What became of the keys', publishedOut), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return noticePublishedKeys(ports, { tenantId, found: request.body.found }, runOriginOf(request))
    },
  )
}
