import { z } from 'zod'
import { findLicense, type LicenseEntry } from '../../../projections/licenses/queries.ts'
import { revokeLicense as runRevocation } from '../../commands/licenses.ts'
import { momentOf, type Services } from '../../commands/services.ts'
import { isId } from '../../credentials/id.ts'
import { statusAt } from '../../domain/license/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import { text } from '../../domain/values.ts'
import { gatedOperation } from '../operation.ts'
import { counted } from '../words.ts'

const input = z.object({
  params: z.strictObject({ id: z.string() }),
  body: z
    .strictObject({
      reason: text(500).optional().meta({ description: "Stands in the license's history" }),
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
  async check(services, tenantId, { params }) {
    const { license } = await find(services, tenantId, params.id)
    if (license.revokedAt !== null) throw new Refusal('license_revoked')
  },
  async describe(services, tenantId, { params, body }) {
    const { license, revision } = await find(services, tenantId, params.id)
    const [holder] = await services.subjects.openPeople(tenantId, [license.holder])
    const product = await services.findProduct(tenantId, license.productId)
    const status = statusAt(license, momentOf(services))
    const { seatsUsed, displayKey, productId } = license
    return {
      summary: `Revoke ${displayKey} of ${holder?.email ?? 'nobody known'}, a license of ${product?.name ?? productId}`,
      consequences: [
        seatsUsed === 0
          ? 'No device is active on it'
          : `${counted(seatsUsed, 'active device fails its', 'active devices fail their')} next validate`,
        ...(status === 'active' ? [] : [`It is not active even now: ${status}`]),
        'It can be undone only by another approval',
        ...(body?.reason === undefined ? [] : [`Reason given: ${body.reason}`]),
      ],
      state: { revision, status },
    }
  },
  async run(services, tenantId, { params, body }, { origin }): Promise<LicenseEntry> {
    try {
      return await runRevocation(services, tenantId, params.id, body?.reason ?? null, origin)
    } catch (error) {
      // By this very execution before a crash, or by somebody else meanwhile: it is revoked either way.
      if (error instanceof Refusal && error.code === 'license_revoked') {
        return find(services, tenantId, params.id)
      }
      throw error
    }
  },
})

/** @throws Refusal `license_not_found` */
async function find(services: Services, tenantId: string, licenseId: string): Promise<LicenseEntry> {
  const entry = isId('lic', licenseId) ? await findLicense(services.db, tenantId, licenseId) : undefined
  if (!entry) throw new Refusal('license_not_found')
  return entry
}
