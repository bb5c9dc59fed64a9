import { findLicense } from '../../../../projections/licenses/queries.ts'
import { recordAudit } from '../../../commands/audit.ts'
import type { Origin } from '../../../commands/origin.ts'
import { Refusal } from '../../../domain/refusal.ts'
import type { AsOf } from '../../../history/moment.ts'
import { asOfFrom, pastMoment } from '../../../http/query.ts'
import type { Ports } from '../../../ports.ts'
import { parsed } from '../../arguments.ts'

/**
 * Records the view of a license in the audit log, before anything is printed.
 * @param seen the past moment that is shown, or two
 * @throws Refusal `license_not_found`
 */
export async function viewLicense(
  ports: Ports<'db' | 'execute' | 'newId' | 'now'>,
  tenantId: string,
  licenseId: string,
  seen: string | undefined,
  origin: Origin,
): Promise<void> {
  if (!(await findLicense(ports.db, tenantId, licenseId))) throw new Refusal('license_not_found')
  const target = { kind: 'license', id: licenseId } as const
  await recordAudit(ports, tenantId, { action: 'viewed', target, asOf: seen }, origin)
}

/**
 * @returns undefined for the present
 * @throws ConfigError that names the option
 */
export const momentTyped = (text: string | undefined, option: string): AsOf | undefined =>
  asOfFrom(text === undefined ? undefined : parsed(pastMoment, text, option))
