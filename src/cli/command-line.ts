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
  const named = groupsOf(words)
  const asJson = words.includes('--json')
  try {
    const program = await commandLine(named ?? commandGroups, words, { onlyListed: named === undefined })
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
 * @param onlyListed the commands have names and summaries only, and load nothing
 */
export async function commandLine(
  groups: readonly CommandGroup[] = commandGroups,
  words: readonly string[] = [],
  { onlyListed = false } = {},
): Promise<Command> {
  const program = new Command('keyledger')
    .description('An event-sourced licensing ledger for software vendors')
    .version(ownVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', (_, command) => {
      refuseEmpty(command)
    })
  for (const { where, summaries, load } of groups) {
    const before = new Set(allCommands(program))
    for (const [usage, summary] of Object.entries(summaries)) describe(program, usage, summary)
    if (!onlyListed) {
      const register = await load()
      register(program, { words, run: runCommandLine, everything: commandLine, hostForms })
    }
    for (const command of allCommands(program)) {
      if (before.has(command)) continue
      command.helpGroup(headings[where])
      if (where === 'host' && command.commands.length === 0) command.addHelpText('after', hostHelp)
    }
  }
  return program
}

/** A word that commands of the network have too says what those say. */
function describe(program: Command, usage: string, summary: string): void {
  const [name] = usage.split(' ')
  if (program.commands.some((command) => command.name() === name)) return
  program.command(usage).description(summary)
}

/** A command and everything below it. */
export const allCommands = (command: Command): Command[] =>
  command.commands.flatMap((one) => [one, ...allCommands(one)])

const hostHelp =
  '\nThis works on the host of the ledger: it opens the data directory, or the stores that KEYLEDGER_… variables name.'

const headings = {
  network: 'Commands that call a server, from any machine (keyledger login):',
  alone: 'Commands that run by themselves, on any machine:',
  host: 'Commands that work on the host of the ledger:',
}

/** The groups that have the first word, or the one after `help`; undefined for a list of all, and for a word that no group has. */
function groupsOf(words: readonly string[]): readonly CommandGroup[] | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'))
  const name = first === 'help' ? second : first
  const found = commandGroups.filter((group) => name !== undefined && group.words.includes(name))
  return found.length > 0 ? found : undefined
}
