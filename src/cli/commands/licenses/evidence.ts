import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { findLicenseOfAnyTenant } from '../../../../projections/licenses/queries.ts'
import { withStores } from '../../../app/with-stores.ts'
import { recordAudit } from '../../../commands/audit.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { gatherEvidence } from '../../../evidence/evidence.ts'
import { CommandRefused } from '../../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../../terminal/output.ts'

type EvidenceOptions = OutputOptions & { out: string }

/** `keyledger license evidence`: writes the archive of `GET /v1/licenses/{id}/evidence` to a file. */
export function licenseEvidenceCommand(license: Command): void {
  license
    .command('evidence <id>')
    .description('Write all evidence about a license to one signed archive, for a dispute')
    .requiredOption('--out <file>', 'where to write it; a file that is there is left alone')
    .option('--json', 'print {file, licenseId, revision}')
    .action((id: string, options: EvidenceOptions) =>
      withStores(async ({ services }, origin) => {
        const found = await findLicenseOfAnyTenant(services.db, id)
        if (!found) throw new Refusal('license_not_found')
        const { tenantId } = found.license
        const evidence = await gatherEvidence(services, tenantId, id, origin)
        if (!evidence) throw new Refusal('license_not_found')
        const target = { kind: 'evidence', id } as const
        await recordAudit(services, tenantId, { action: 'exported', target }, origin)
        await write(evidence.archive, options.out)
        const { revision } = evidence
        print(options, { file: options.out, licenseId: id, revision }, () => [
          `${options.out} contains the evidence about ${id} up to event ${revision}. README.txt in it explains how to verify it.`,
        ])
      }),
    )
}

/** Only the owner can read the file. An incomplete file is removed. */
async function write(archive: AsyncIterable<Buffer>, file: string): Promise<void> {
  const out = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(archive, out)
  } catch (error) {
    // A write stream reports only now whether the file could be opened.
    if (isOf(file, error)) throw new CommandRefused(`Cannot write ${file}: ${error.message}`)
    await rm(file, { force: true })
    throw error
  }
}

const isOf = (file: string, error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'path' in error && error.path === file
