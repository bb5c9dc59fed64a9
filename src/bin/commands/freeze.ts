import type { Command } from 'commander'
import { isDatabaseTrouble } from '../../../projections/database/trouble.ts'
import { freezeLedger, unfreezeLedger } from '../../freeze/freeze.ts'
import { CommandRefused, CommandUnavailable } from '../exit.ts'
import { type OutputOptions, print, tell } from '../output.ts'
import { withStores } from '../with-stores.ts'

const tellOfWait = (milliseconds: number): void =>
  tell(
    'A process ended without saying so, or lost its connection to the database. ' +
      `Waiting ${Math.ceil(milliseconds / 1000)} s for what it may have sent.`,
  )

/** `keyledger freeze` and `keyledger unfreeze`: nothing is recorded between the two, and everything can be read. */
export function freezeCommands(program: Command): void {
  program
    .command('freeze')
    .description('Answer every write 503 until unfreeze, in all processes; reads and validates go on')
    .option('--reason <text>', 'shown by doctor and in the log')
    .option('--json', 'print {frozen, since, actor, reason}')
    .action((options: OutputOptions & { reason?: string }) =>
      withStores(async ({ db, locks }, { actor }) => {
        const asked = { actor, reason: options.reason ?? null }
        const freeze = await freezeLedger(db, locks, asked, tellOfWait).catch((error: unknown) => {
          if (!isDatabaseTrouble(error)) throw error
          throw new CommandUnavailable(
            'A process still may append: it does not answer, or its append does not end. Nothing was frozen. Look for ' +
              'a server that hangs, end it, and try again.',
          )
        })
        if (!freeze)
          throw new CommandRefused('The freeze was ended by unfreeze while it began: nothing is frozen.')
        const shown = { frozen: true, since: freeze.holdsSince, actor: freeze.actor, reason: freeze.reason }
        print(options, shown, () => [
          `Frozen since ${freeze.holdsSince}: no process records anything. To end that: keyledger unfreeze`,
        ])
      }),
    )

  program
    .command('unfreeze')
    .description('End a freeze')
    .option('--json', 'print {frozen, wasFrozen}')
    .action((options: OutputOptions) =>
      withStores(async ({ db }) => {
        const wasFrozen = await unfreezeLedger(db)
        print(options, { frozen: false, wasFrozen }, () => [
          wasFrozen ? 'Everything is recorded again.' : 'The ledger was not frozen.',
        ])
      }),
    )
}
