import { z } from 'zod'
import { findLicense } from '../../../../projections/licenses/queries.ts'
import { withStores } from '../../../app/with-stores.ts'
import { recordAudit } from '../../../commands/audit.ts'
import { revokeLicense } from '../../../commands/licenses/licenses.ts'
import type { Origin } from '../../../commands/origin.ts'
import { Refusal } from '../../../domain/refusal.ts'
import type { AsOf } from '../../../history/moment.ts'
import { licenseDetail } from '../../../http/licenses/detail.ts'
import { asOfFrom, pastMoment } from '../../../http/query.ts'
import type { Ports } from '../../../ports.ts'
import { fields, print } from '../../../terminal/output.ts'
import { parsed } from '../../arguments.ts'
import { hostOptionsIn } from '../../host-form.ts'

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

/** `keyledger licenses show <id> --tenant <id>`: a license with its devices, now or at a past moment. */
export function showOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({ asOf: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    const moment = momentTyped(options.asOf, '--as-of')
    await viewLicense(ports, options.tenant, id, options.asOf, origin)
    const view = await licenseDetail(ports, options.tenant, id, moment)
    print(options, view, () => fields(view))
  })
}

/** `keyledger licenses revoke <id> --tenant <id>`: no approval is needed on the host. */
export function revokeOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({ reason: z.string().optional() }, given)
  return withStores(async ({ ports }, origin) => {
    await revokeLicense(ports, options.tenant, id, options.reason ?? null, origin)
    const view = await licenseDetail(ports, options.tenant, id, undefined)
    print(options, view, () => [`License ${id} is revoked.`])
  })
}
