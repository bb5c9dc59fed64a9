import { Command } from 'commander'
import { ownVersion } from '../app/own-version.ts'
import { refuseEmpty } from './empty.ts'
import { reportError } from './failure.ts'
import { type CommandGroup, commandGroups } from './groups.ts'
import { hostForms } from './host-forms.ts'

/**
 * Runs the command given by the words after `keyledger`, in this process. The exit code is the process's own;
 * errors are printed to stderr.
 */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const groups = groupsOf(words)
  const asJson = words.includes('--json')
  try {
    const program = await commandLine(groups, words)
    // Commander would print its own errors as text.
    if (asJson) program.configureOutput({ outputError: () => undefined })
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = await reportError(error, asJson)
  }
}

/**
 * The program with the commands of some groups. A command that calls a server then loads no client of a store.
 * @param groups all commands when it is absent
 */
export async function commandLine(
  groups: readonly CommandGroup[] = commandGroups,
  words: readonly string[] = [],
): Promise<Command> {
  const program = new Command('keyledger')
    .description('An event-sourced licensing ledger for software vendors')
    .version(ownVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', (_, command) => {
      refuseEmpty(command)
    })
  for (const { where, load } of groups) {
    const before = new Set(allCommands(program))
    const register = await load()
    register(program, { words, run: runCommandLine, everything: commandLine, hostForms })
    for (const command of allCommands(program)) {
      if (before.has(command)) continue
      command.helpGroup(headings[where])
      if (where === 'host' && command.commands.length === 0) command.addHelpText('after', hostHelp)
    }
  }
  return program
}

/** A command and everything below it. */
export const allCommands = (command: Command): Command[] =>
  command.commands.flatMap((one) => [one, ...allCommands(one)])

const hostHelp =
  '\nThis works on the host of the ledger: it opens the data directory, or the stores that KEYLEDGER_… variables name.'

const headings = {
  network: 'Commands that call a server, from any machine (keyledger login):',
  host: 'Commands that work on the host of the ledger:',
}

/** The groups that have the first word; all of them for help, and for a word that no group has. */
function groupsOf(words: readonly string[]): readonly CommandGroup[] {
  const first = words.find((word) => !word.startsWith('-'))
  const found = commandGroups.filter((group) => first !== undefined && group.words.includes(first))
  return found.length > 0 ? found : commandGroups
}
