import { Command } from 'commander'
import { reportFailure } from '../app/exit.ts'
import { ownVersion } from '../app/own-version.ts'
import { auditCommands } from './commands/audit.ts'
import { backupCommands } from './commands/backup.ts'
import { confirmationCommands } from './commands/confirmations.ts'
import { copyCommand } from './commands/copy.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { eventCommands } from './commands/events.ts'
import { freezeCommands } from './commands/freeze.ts'
import { hostCommands } from './commands/host.ts'
import { importCommand } from './commands/import.ts'
import { integrationCommands } from './commands/integrations.ts'
import { keyCommands } from './commands/keys.ts'
import { licenseCommands } from './commands/licenses/license.ts'
import { memberCommands } from './commands/member.ts'
import { projectionCommands } from './commands/projections.ts'
import { saleCommands } from './commands/sales.ts'
import { serveCommand } from './commands/serve.ts'
import { subjectCommands } from './commands/subject.ts'
import { tenantCommands } from './commands/tenant.ts'
import { testPurchaseCommand } from './commands/test-purchase.ts'
import { tokenCommands } from './commands/token.ts'
import { webhookCommands } from './commands/webhook.ts'

/**
 * Runs the command given by the words after `keyledger`, in this process. The exit code is the process's own;
 * errors are printed to stderr.
 */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  try {
    await commandLine().parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
}

function commandLine(): Command {
  const program = new Command('keyledger')
    .description('An event-sourced licensing ledger for software vendors')
    .version(ownVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
  serveCommand(program)
  demoCommand(program)
  hostCommands(program)
  doctorCommand(program)
  freezeCommands(program)
  copyCommand(program)
  tenantCommands(program)
  memberCommands(program)
  tokenCommands(program)
  keyCommands(program)
  webhookCommands(program)
  integrationCommands(program)
  importCommand(program)
  licenseCommands(program)
  eventCommands(program)
  saleCommands(program)
  testPurchaseCommand(program)
  subjectCommands(program)
  confirmationCommands(program)
  projectionCommands(program)
  backupCommands(program)
  auditCommands(program)
  return program
}
