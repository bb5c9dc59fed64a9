import { constants, setPriority } from 'node:os'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { verify } from '../../../projections/runner/verify.ts'
import { withStores } from '../../app/with-stores.ts'
import { exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { parsed } from '../arguments.ts'
import type { VerifyOptions } from '../audit-verify.ts'
import { topCommand } from '../context.ts'
import { endWithParent } from '../serving.ts'

type Options = OutputOptions & { until?: string }

const Moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-21T09:30:00Z' })
  .transform((moment) => new Date(moment).toISOString())

/** `keyledger audit …`: compares the read models with the log, and the log with what was signed. */
export function auditCommands(program: Command): void {
  const audit = topCommand(program, 'audit')

  audit
    .command('replay')
    .description('Replay the whole log into separate tables and report differences from the live ones')
    .option('--until <time>', 'replay only up to this time, and report what has changed since')
    .option('--json', 'print {until, events, eventsPerSecond, rows, tables, differences}')
    .action((options: Options) => {
      const until =
        options.until === undefined ? undefined : parsed(Moment, options.until, `--until ${options.until}`)
      return withStores(async ({ ports }) => {
        const progress = showProgress('Replaying')
        const started = performance.now()
        const { events, rows, differences } = await verify(ports.db, ports.ledger, progress.update, until)
        progress.done()
        const eventsPerSecond = Math.round(events / ((performance.now() - started) / 1000))
        const found = { until: until ?? null, events, eventsPerSecond, rows, tables: counted(differences) }
        print(options, { ...found, differences }, () => [
          ...differences.map(({ table: name, side, row }) => `${name}: ${side}: ${JSON.stringify(row)}`),
          ...table(
            found.tables.map(({ table: name, onlyInLive, onlyInReplay }) => [
              name,
              `${onlyInLive} only in the live table`,
              `${onlyInReplay} only in the replayed table`,
            ]),
          ),
          `${events} events replayed${until === undefined ? '' : ` until ${until}`} at ${eventsPerSecond} events/s, ` +
            `${rows} rows compared, ${differences.length} differences`,
        ])
        // With `until`, the differences are later events and not an error.
        if (until === undefined && differences.length > 0) process.exitCode = exitCode.refused
      })
    })

  audit
    .command('verify')
    .description(
      'Compare the log with the tree of hashes that was signed, and name the first event that differs; exit code 1 if one does',
    )
    .option(
      '--checkpoint <path>',
      'a checkpoint that you kept, or a .tlog-proof file; may be repeated',
      (one: string, others: string[] = []) => [...others, one],
    )
    .option(
      '--key <key>',
      'the public key that you know, instead of those in the log; may be repeated',
      (one: string, others: string[] = []) => [...others, one],
    )
    .option('--json', 'print {events, size, checkpoint, kept, verified, problems}')
    // For the server, which starts it with a channel that closes when the server dies.
    .addOption(new Option('--child').hideHelp())
    .action(async (options: VerifyOptions & { child?: boolean }) => {
      if (options.child) {
        endWithParent()
        setPriority(constants.priority.PRIORITY_LOW)
      }
      await (await import('../audit-verify.ts')).auditVerify(options)
    })
}

type Difference = Awaited<ReturnType<typeof verify>>['differences'][number]

/** The number of rows on only one side, per table, as far as the tables were compared. */
function counted(differences: readonly Difference[]) {
  const of = (rows: readonly Difference[], side: Difference['side']) =>
    rows.filter((row) => row.side === side).length
  return Array.from(
    Map.groupBy(differences, ({ table: name }) => name),
    ([name, rows]) => ({
      table: name,
      onlyInLive: of(rows, 'only in live'),
      onlyInReplay: of(rows, 'only in replay'),
    }),
  )
}
