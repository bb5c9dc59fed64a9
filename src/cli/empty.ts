import type { Command, Option } from 'commander'
import { CommandMisused } from '../terminal/exit-codes.ts'

const meaningful = new WeakSet<Option>()

/** Marks an option whose empty value says something, such as that an email address is removed. */
export function mayBeEmpty(option: Option): Option {
  meaningful.add(option)
  return option
}

/**
 * Refuses a command with an empty argument or option. Nearly always it is a variable of the shell that is not set: to take
 * it for an absent one would do something else than what was asked for.
 * @throws CommandMisused
 */
export function refuseEmpty(command: Command): void {
  // A group that has an option takes it also behind its command.
  for (let at: Command | null = command; at; at = at.parent)
    for (const option of at.options) {
      if (meaningful.has(option)) continue
      const given: unknown = at.getOptionValue(option.attributeName())
      if ([given].flat().includes('')) throw new CommandMisused(`${option.flags}: ${why}`)
    }
  command.registeredArguments.forEach((argument, index) => {
    const given: unknown = command.processedArgs[index]
    if ([given].flat().includes('')) throw new CommandMisused(`<${argument.name()}>: ${why}`)
  })
}

const why =
  'the value is empty. If it comes from a shell variable, that variable is not set; to omit the option, leave it out.'
