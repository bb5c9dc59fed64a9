import type { Command } from 'commander'
import { CommandMisused } from '../../terminal/exit-codes.ts'
import { completionScript, type Shell, shells } from '../completion/shells.ts'
import { nodesOf } from '../completion/tree.ts'
import { type CommandContext, topCommand } from '../context.ts'

/** `keyledger completion`: a script that completes the words of every command. */
export function completionCommand(program: Command, { everything }: CommandContext): void {
  topCommand(program, 'completion').action(async (shell: string) => {
    if (!isShell(shell)) throw new CommandMisused(`${shell} is not supported. Use ${shells.join(', ')}.`)
    process.stdout.write(completionScript(shell, nodesOf(await everything())))
  })
}

const isShell = (name: string): name is Shell => shells.some((shell) => shell === name)
