import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { withStores } from '../../../app/with-stores.ts'
import { recordAudit } from '../../../commands/audit.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { gatherEvidence } from '../../../evidence/evidence.ts'
import { CommandRefused } from '../../../terminal/exit-codes.ts'
import { print } from '../../../terminal/output.ts'
import { hostOptionsIn } from '../../host-form.ts'

/** `keyledger licenses evidence <id> --tenant <id> --out <file>`: the archive of `GET /v1/licenses/{id}/evidence`. */
export function evidenceOnHost([id = '']: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({ out: z.string() }, given)
  return withStores(async ({ ports }, origin) => {
    const evidence = await gatherEvidence(ports, options.tenant, id, origin)
    if (!evidence) throw new Refusal('license_not_found')
    const target = { kind: 'evidence', id } as const
    await recordAudit(ports, options.tenant, { action: 'exported', target }, origin)
    await write(evidence.archive, options.out)
    const { revision } = evidence
    print(options, { file: options.out, licenseId: id, revision }, () => [
      `${options.out} contains the evidence about ${id} up to event ${revision}. README.txt in it explains how to verify it.`,
    ])
  })
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
