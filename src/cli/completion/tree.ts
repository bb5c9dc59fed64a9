import type { Command } from 'commander'

/** A command as completions need it. */
export type Node = {
  /** Its words with a space before each; empty for the program. */
  path: string
  commands: { name: string; help: string }[]
  options: { name: string; help: string; takesValue: boolean; choices: string[] }[]
}

/** The program and every command below it. */
export function nodesOf(command: Command, path = ''): Node[] {
  const commands = command.commands.map((one) => ({ name: one.name(), help: one.description() }))
  const options = command.options
    .filter((option) => !option.hidden && option.long !== undefined)
    .map((option) => ({
      name: (option.long ?? '').slice(2),
      help: option.description,
      takesValue: option.required,
      choices: choicesIn(option.flags),
    }))
  const own: Node = { path, commands, options: [...options, helpOption] }
  return [own, ...command.commands.flatMap((one) => nodesOf(one, `${path} ${one.name()}`))]
}

const helpOption = { name: 'help', help: 'display help for command', takesValue: false, choices: [] }

/** `--order <newest|oldest>` has two. */
function choicesIn(flags: string): string[] {
  const list = /[<[]([^<>[\]]+)[>\]]$/.exec(flags)?.[1] ?? ''
  return list.includes('|') ? list.split('|') : []
}
