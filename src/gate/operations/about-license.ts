import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import { requireLicense } from '../../commands/licenses/licenses.ts'
import { quoted } from '../../domain/plain-text.ts'
import type { Ports } from '../../ports.ts'
import type { Detail } from '../operation.ts'

/** The license, and its description for an approver. @throws Refusal `license_not_found` */
export async function aboutLicense(
  ports: Ports<'db' | 'findProduct' | 'subjects'>,
  tenantId: string,
  licenseId: string,
): Promise<LicenseEntry & { subject: string }> {
  const entry = await requireLicense(ports, tenantId, licenseId)
  const { displayKey, holder, productId } = entry.license
  const [person] = await ports.subjects.openPeople(tenantId, [holder])
  const product = await ports.findProduct(tenantId, productId)
  const subject = `${displayKey} of ${person?.email ?? 'an unknown holder'}, a license for ${quoted(product?.name ?? productId)}`
  return { ...entry, subject }
}

/** The caller's reason as a quotation; nothing without a reason. */
export const reasonGiven = (reason: string | undefined): readonly Detail[] | undefined =>
  reason === undefined ? undefined : [['Reason given by the requester', quoted(reason)]]
