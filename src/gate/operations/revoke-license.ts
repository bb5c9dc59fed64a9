import { z } from 'zod'
import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { requireLicense, revokeLicense as runRevocation } from '../../commands/licenses/licenses.ts'
import { momentOf } from '../../commands/origin.ts'
import { statusAt } from '../../domain/licenses/status.ts'
import { Refusal } from '../../domain/refusal.ts'
import { text } from '../../domain/values.ts'
import { gatedOperation } from '../operation.ts'
import { aboutLicense, reasonGiven } from './about-license.ts'

const input = z.object({
  params: z.strictObject({ id: z.string() }),
  body: z
    .strictObject({
      reason: text(500).optional().meta({ description: "Shown in the license's history" }),
    })
    .nullish()
    .meta({ example: { reason: 'charged back' } }),
})

export const revokeLicense = gatedOperation({
  name: 'license.revoke',
  title: 'Revoke a license',
  method: 'POST',
  path: '/v1/licenses/{id}/revoke',
  scope: 'licenses:write',
  input,
  async check(ports, tenantId, { params }) {
    const { license } = await requireLicense(ports, tenantId, params.id)
    if (license.revokedAt !== null) throw new Refusal('license_revoked')
  },
  async describe(ports, tenantId, { params, body }) {
    const { license, subject, revision } = await aboutLicense(ports, tenantId, params.id)
    const status = statusAt(license, momentOf(ports))
    return { summary: `Revoke ${subject}`, details: reasonGiven(body?.reason), state: { revision, status } }
  },
  run: (ports, tenantId, { params, body }, { origin }): Promise<LicenseEntry> =>
    runRevocation(ports, tenantId, params.id, body?.reason ?? null, origin),
})
