import type { Command } from 'commander'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import { type CommandContext, topCommand } from '../../context.ts'
import { operationCommand } from '../../remote/build.ts'
import { findPending } from '../../remote/gate.ts'
import { operations } from '../../remote/operations/all.ts'
import { transferCommands } from './transfers.ts'

/** The management commands: one for each operation of `/v1`, and those that do more than one call. */
export function operationCommands(program: Command, context: CommandContext): void {
  for (const operation of operations) operationCommand(program, operation, context)
  transferCommands(topCommand(program, 'licenses'), context)
  resumeCommand(topCommand(program, 'confirmations'), context)
}

function resumeCommand(confirmations: Command, { run }: CommandContext): void {
  confirmations
    .command('resume <id>')
    .description('Continue a command of this machine that waited for an approval')
    .action(async (id: string) => {
      const pending = findPending(id)
      if (!pending) {
        throw new CommandMisused(
          `No command of this machine waits for ${id}. Run the command itself again, with --confirmation ${id}.`,
        )
      }
      process.chdir(pending.directory)
      const { words } = pending
      await run(words.includes('--confirmation') ? words : [...words, '--confirmation', id])
    })
}
