import type { Command } from 'commander'
import {
  findLicenseOfAnyTenant,
  type LicenseEntry,
  listDevices,
} from '../../../../projections/licenses/queries.ts'
import { withStores } from '../../../app/with-stores.ts'
import { revokeLicense } from '../../../commands/licenses/licenses.ts'
import { momentOf } from '../../../commands/origin.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { deviceView, licenseView } from '../../../http/licenses/license.ts'
import type { Ports } from '../../../ports.ts'
import { fields, type OutputOptions, print } from '../../../terminal/output.ts'
import { readTelemetry } from '../../../usage/device-telemetry.ts'
import { licenseEvidenceCommand } from './evidence.ts'
import { licenseHistoryCommands } from './history.ts'

/** `keyledger license …`: one license, for support staff and auditors. */
export function licenseCommands(program: Command): void {
  const license = program.command('license').description('Show, explain and revoke a license')

  license
    .command('show <id>')
    .description('Show a license with its devices')
    .option('--json', 'print the license')
    .action((id: string, options: OutputOptions) =>
      withStores(async ({ services }) => {
        const entry = await requireLicense(services, id)
        const view = await viewNow(services, entry)
        print(options, view, () => fields(view))
      }),
    )

  licenseHistoryCommands(license)
  licenseEvidenceCommand(license)

  license
    .command('revoke <id>')
    .description('Revoke a license permanently')
    .option('--reason <text>')
    .option('--json', 'print the license')
    .action((id: string, options: OutputOptions & { reason?: string }) =>
      withStores(async ({ services }, origin) => {
        const { license: found } = await requireLicense(services, id)
        const revoked = await revokeLicense(services, found.tenantId, id, options.reason ?? null, origin)
        const view = await viewNow(services, revoked)
        print(options, view, () => [`License ${id} is revoked.`])
      }),
    )
}

async function requireLicense(services: Ports<'db'>, id: string): Promise<LicenseEntry> {
  const entry = await findLicenseOfAnyTenant(services.db, id)
  if (!entry) throw new Refusal('license_not_found')
  return entry
}

async function viewNow(services: Ports<'db' | 'now' | 'subjects'>, entry: LicenseEntry) {
  const { tenantId, licenseId, holder } = entry.license
  const [person = { email: null, name: null }] = await services.subjects.openPeople(tenantId, [holder])
  const devices = await listDevices(services.db, licenseId)
  return {
    ...licenseView(entry, person, momentOf(services)),
    devices: devices.map(deviceView(await readTelemetry(services.db, licenseId))),
  }
}
