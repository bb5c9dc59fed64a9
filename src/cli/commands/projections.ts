import type { Command } from 'commander'
import { readKnownLog } from '../../../projections/runner/known-log.ts'
import { projectionStatus } from '../../../projections/runner/status.ts'
import { verify } from '../../../projections/runner/verify.ts'
import { withStores } from '../../app/with-stores.ts'
import { runRebuild } from '../../commands/rebuilds.ts'
import { exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print, printToStderr, table } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { topCommand } from '../context.ts'

/** `keyledger projections …`: the state of the read models, and their rebuild. */
export function projectionCommands(program: Command): void {
  const projections = topCommand(program, 'projections')

  projections
    .command('status')
    .description('Show how far they are behind the log, and the parked streams')
    .option('--json')
    .action((options: OutputOptions) =>
      withStores(async ({ ports }) => {
        const status = await projectionStatus(ports.db, ports.ledger)
        print(options, status, () => [
          `checkpoint ${status.checkpoint}, log ${status.head}, ${status.lagEvents} events behind`,
          status.parked.length === 0 ? 'no parked streams' : `${status.parked.length} parked streams:`,
          ...table(
            status.parked.map((p) => [p.stream, `revision ${p.revision}`, p.type, p.parkedAt, p.problem]),
          ),
        ])
      }),
    )

  projections
    .command('rebuild')
    .description('Rebuild the read models from the log, then swap them with the live ones')
    .option('--json', 'print {events, ledgerId, formerLedgerId}')
    .action((options: OutputOptions) =>
      withStores(
        async ({ ports }) => {
          const former = await readKnownLog(ports.db)
          const progress = showProgress('Rebuilding')
          const events = await runRebuild(ports, {
            onParked: ({ stream, problem }) => printToStderr(`${stream} is parked: ${problem}`),
            onProgress: progress.update,
          })
          progress.done()
          printRebuilt(options, events, await ports.ledger.identity(), former.ledgerId)
        },
        { toRebuild: true },
      ),
    )

  projections
    .command('verify')
    .description(
      'Replay the log into separate tables and print differences from the live ones; exit code 1 if there are any',
    )
    .option('--json', 'print {events, rows, differences}')
    .action((options: OutputOptions) =>
      withStores(async ({ ports }) => {
        const progress = showProgress('Verifying')
        const found = await verify(ports.db, ports.ledger, progress.update)
        progress.done()
        print(options, found, () => [
          ...found.differences.map(
            ({ table: name, side, row }) => `${name}: ${side}: ${JSON.stringify(row)}`,
          ),
          `${found.events} events replayed, ${found.rows} rows compared, ${found.differences.length} differences`,
        ])
        if (found.differences.length > 0) process.exitCode = exitCode.refused
      }),
    )
}

/** Prints the log that the read models belong to now, and the previous one if it was another. */
function printRebuilt(
  options: OutputOptions,
  events: number,
  ledgerId: string | undefined,
  formerLedgerId: string | undefined,
): void {
  const found = { events, ledgerId: ledgerId ?? null, formerLedgerId: formerLedgerId ?? null }
  print(options, found, () => [
    `Rebuilt from ${events} events of the log ${ledgerId ?? 'without an identity'}.`,
    ...(formerLedgerId === undefined || formerLedgerId === ledgerId
      ? []
      : [`Before, the read models were of the log ${formerLedgerId}.`]),
  ])
}
