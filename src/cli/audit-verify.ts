import { readFileSync } from 'node:fs'
import { createPool } from '../../projections/database/pool.ts'
import { requireLedger } from '../app/start/ledger-here.ts'
import { parseConfig } from '../config.ts'
import { connectLedger } from '../ledger/ledger.ts'
import { auditLog } from '../notary/audit/audit.ts'
import { type KeptCheckpoint, keysInLog } from '../notary/audit/checkpoints.ts'
import type { AuditReport } from '../notary/audit/findings.ts'
import { sentence } from '../sentence.ts'
import { CommandMisused, exitCode } from '../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../terminal/output.ts'
import { showProgress } from '../terminal/progress.ts'
import { parseVerifierKey } from '../transparency/note/verifier.ts'
import { withBareStores } from './backup/stores.ts'

export type VerifyOptions = OutputOptions & { checkpoint?: string[]; key?: string[] }

/**
 * `keyledger audit verify`. The stores are opened without the checks of other commands, which refuse a log that is not the
 * one they know: that is what this one explains.
 */
export async function auditVerify(options: VerifyOptions): Promise<void> {
  const config = parseConfig(process.env)
  requireLedger(config)
  const kept = (options.checkpoint ?? []).map(readKeptFile)
  const given = (options.key ?? []).map(readKey)
  const progress = showProgress('Verifying')
  const report = await withBareStores(config, async ({ log, eventstoreUrl, databaseUrl }) => {
    const db = createPool(databaseUrl, { size: 2 })
    const ledger = connectLedger(eventstoreUrl)
    try {
      const keys = given.length > 0 ? given : await keysInLog(ledger)
      const onProgress = (events: number, size: number) =>
        progress.update({ events, position: BigInt(events), head: BigInt(size) })
      return await auditLog({ db, log, ledger, keys, kept, onProgress })
    } finally {
      await ledger.close()
      await db.end()
    }
  })
  progress.done()
  print(options, report, () => linesOf(report))
  if (report.problems.length > 0) process.exitCode = exitCode.refused
}

function readKeptFile(path: string): KeptCheckpoint {
  try {
    return { name: path, note: readFileSync(path, 'utf8') }
  } catch (error) {
    throw new CommandMisused(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function readKey(text: string) {
  try {
    return parseVerifierKey(text)
  } catch (error) {
    throw new CommandMisused(`--key ${text}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const count = (value: number): string => value.toLocaleString('en-US')

/** What operators read: the first difference of each kind, or that there is none. */
function linesOf({ events, size, checkpoint, kept, verified, problems }: AuditReport): string[] {
  if (problems.length > 0)
    return [
      ...problems.map(({ says }) => sentence(says)),
      `${count(events)} of ${count(size)} events are as they were hashed.`,
    ]
  if (!checkpoint) return ['The notary has signed nothing yet, so there is nothing to compare the log with.']
  const signed = `The last signed checkpoint, of ${checkpoint.signedAt}, covers ${count(checkpoint.size)} events.`
  return [
    `All ${count(events)} events are as they were hashed. ${signed}`,
    ...(kept.length > 0
      ? [
          `The tree continues ${kept.length === 1 ? 'the kept checkpoint' : `all ${count(kept.length)} kept checkpoints`}.`,
        ]
      : []),
    ...(verified ? [] : ['Its signature was not verified, because the log names no key. Add --key.']),
  ]
}
