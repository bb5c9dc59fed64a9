import type { Command } from 'commander'

/** A command that works on the host when it is called with `--tenant`, and calls a server otherwise. */
export type HostForm = {
  /** Its options on the host besides `--tenant` and `--json`: flags and what they mean. */
  options: readonly (readonly [flags: string, help: string])[]
  load: () => Promise<(args: readonly string[], options: Record<string, unknown>) => Promise<void>>
}

/** What a command may know of the command line around it. */
export type CommandContext = {
  /** The words that were given. */
  words: readonly string[]
  /** Runs another command in this process. */
  run: (words: readonly string[]) => Promise<void>
  /** The program with all commands. */
  everything: () => Promise<Command>
  /** By the words of the command, such as `sales list`. */
  hostForms: Readonly<Record<string, HostForm>>
}

/** Adds commands to the program. */
export type Register = (program: Command, context: CommandContext) => void

/** The command with this name below another one, which several files may add to. */
export function groupCommand(parent: Command, name: string, description: string): Command {
  const found = parent.commands.find((command) => command.name() === name)
  return found ?? parent.command(name).description(description)
}

/** A command that the list of all commands has described already: see src/cli/groups.ts. */
export function topCommand(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name)
  if (!found) throw new Error(`src/cli/groups.ts does not describe ${name}`)
  return found
}
