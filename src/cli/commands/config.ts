import type { Command } from 'commander'
import { shownValue } from '../../config/shown.ts'
import { parseConfig, setIn } from '../../config.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'

/** `keyledger config`: checks the variables of the environment without opening a store. */
export function configCommand(program: Command): void {
  topCommand(program, 'config')
    .option('--json', 'print {variables}, without secrets')
    .action((options: OutputOptions) => {
      parseConfig(process.env)
      const set = setIn(process.env).map(([name, value]) => [name, shownValue(name, value)] as const)
      print(options, { variables: Object.fromEntries(set) }, () =>
        set.length === 0 ? ['No variable is set; each has its default.'] : table(set),
      )
    })
}
