import type { Command } from 'commander'
import { isDatabaseFailure } from '../../../projections/database/errors.ts'
import { withStores } from '../../app/with-stores.ts'
import { freezeLedger, unfreezeLedger } from '../../freeze/freeze.ts'
import { CommandRefused, CommandUnavailable } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print, printToStderr } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'

const printWait = (milliseconds: number): void =>
  printToStderr(
    'A process crashed or lost its connection to the database. ' +
      `Waiting ${Math.ceil(milliseconds / 1000)} s for writes that it may have sent.`,
  )

/** `keyledger freeze` and `keyledger unfreeze`: during a freeze nothing is recorded, and everything can be read. */
export function freezeCommands(program: Command): void {
  topCommand(program, 'freeze')
    .option('--reason <text>', 'shown by doctor and in the log')
    .option('--json', 'print {frozen, since, actor, reason}')
    .action((options: OutputOptions & { reason?: string }) =>
      withStores(async ({ db, locks }, { actor }) => {
        const request = { actor, reason: options.reason ?? null }
        const freeze = await freezeLedger(db, locks, request, printWait).catch((error: unknown) => {
          if (!isDatabaseFailure(error)) throw error
          throw new CommandUnavailable(
            'Nothing was frozen, because a process may still append: it does not respond, or its append does not finish. ' +
              'Find the server that hangs, stop it, and try again.',
          )
        })
        if (!freeze) throw new CommandRefused('Nothing was frozen, because unfreeze ran at the same time.')
        const shown = { frozen: true, since: freeze.holdsSince, actor: freeze.actor, reason: freeze.reason }
        print(options, shown, () => [
          `Frozen since ${freeze.holdsSince}: no process can write. To end the freeze: keyledger unfreeze`,
        ])
      }),
    )

  topCommand(program, 'unfreeze')
    .option('--json', 'print {frozen, wasFrozen}')
    .action((options: OutputOptions) =>
      withStores(async ({ db }) => {
        const wasFrozen = await unfreezeLedger(db)
        print(options, { frozen: false, wasFrozen }, () => [
          wasFrozen ? 'The ledger accepts writes again.' : 'The ledger was not frozen.',
        ])
      }),
    )
}
