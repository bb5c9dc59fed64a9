import { createInterface } from 'node:readline/promises'
import { CommandMisused, CommandRefused } from '../../terminal/exit-codes.ts'

/**
 * Asks a person whether to go on. `--yes` answers it; it never replaces the approval of another person.
 * @throws CommandRefused for another answer, CommandMisused when nobody can answer
 */
export async function askFirst(question: string | undefined, options: { yes?: boolean }): Promise<void> {
  if (question === undefined || options.yes) return
  if (!process.stdin.isTTY) {
    throw new CommandMisused(`${question} There is no terminal to answer it at: add --yes.`)
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandRefused('Nothing was changed.')
  } finally {
    terminal.close()
  }
}
