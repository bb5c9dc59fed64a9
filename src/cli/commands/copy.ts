import type { Command } from 'commander'
import type { Pool } from 'pg'
import { copyDurableRows, DatabaseNotEmpty } from '../../../projections/database/copy-durable.ts'
import { migrate } from '../../../projections/database/migrate.ts'
import { createPool } from '../../../projections/database/pool.ts'
import { requireLedger } from '../../app/start/ledger-here.ts'
import { type Config, ConfigError, parseConfig } from '../../config.ts'
import { readFreeze } from '../../freeze/freeze.ts'
import { compareLogs, type LogComparison } from '../../ledger/raw/compare-logs.ts'
import { copyLog, TargetDiffers } from '../../ledger/raw/copy.ts'
import type { RawLog } from '../../ledger/raw/log.ts'
import { CommandRefused, exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print, printToStderr } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { topCommand } from '../context.ts'
import { openDatabaseAt, openLogAt } from '../store-location.ts'

type CopyOptions = OutputOptions & { to?: string; databaseTo?: string; follow?: boolean; verify?: boolean }

/** `keyledger copy`: copies the whole log and its database to other stores. */
export function copyCommand(program: Command): void {
  topCommand(program, 'copy')
    .option('--to <place>', 'esdb://… or a data directory; put a URL with a password into KEYLEDGER_COPY_TO')
    .option(
      '--database-to <place>',
      'an empty postgres://… or data directory; or set KEYLEDGER_COPY_DATABASE_TO',
    )
    .option('--follow', 'keep copying new events until the ledger is frozen and everything is copied')
    .option('--verify', 'then compare all events of both logs and their order; exit code 1 if they differ')
    .option('--json', 'print {events, databaseRows, verified}')
    .action(copy)
}

async function copy(options: CopyOptions): Promise<void> {
  const config = parseConfig(process.env)
  const to = options.to ?? config.copyTo
  if (to === undefined)
    throw new ConfigError('The target is missing. Add --to esdb://… or --to <data directory>.')
  const databaseTo = options.databaseTo ?? config.copyDatabaseTo
  const needsDatabase = databaseTo !== undefined || options.follow === true
  requireLedger(config, { database: needsDatabase })
  const undo: (() => Promise<unknown>)[] = []
  try {
    const source = await openLogAt({ urlOrDirectory: config.eventstoreUrl ?? config.dataDirectory })
    undo.push(source.close)
    const database = needsDatabase ? await openOwnDatabase(config, undo) : undefined
    const target = await openLogAt({
      urlOrDirectory: to,
      ...(options.to !== undefined && { secretVariable: 'KEYLEDGER_COPY_TO' }),
    })
    undo.push(target.close)
    const events = await copyWithProgress(source.log, target.log, options.follow ? database : undefined)
    // The database is copied after the log: the key that seals an event is always stored before the event.
    const databaseRows =
      database && databaseTo !== undefined
        ? await copyDatabase(database, {
            urlOrDirectory: databaseTo,
            ...(options.databaseTo !== undefined && { secretVariable: 'KEYLEDGER_COPY_DATABASE_TO' }),
          })
        : null
    const compared = options.verify ? await compareWithProgress(source.log, target.log, events) : undefined
    print(options, { events, databaseRows, verified: compared?.equal ?? null }, () => [
      `The target has all ${events} events.`,
      ...(databaseRows === null
        ? []
        : [`Copied ${databaseRows} rows of the database; the read models are rebuilt from the log.`]),
      ...(compared ? resultOf(compared) : []),
    ])
    if (compared && !compared.equal) process.exitCode = exitCode.refused
  } catch (error) {
    throw error instanceof TargetDiffers || error instanceof DatabaseNotEmpty
      ? new CommandRefused(error.message)
      : error
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/**
 * @param following the database with the state of the freeze, when the copy continues until the ledger is frozen
 */
async function copyWithProgress(
  source: RawLog,
  target: RawLog,
  following: Pool | undefined,
): Promise<number> {
  const progress = showProgress('Copying')
  const events = await copyLog(source, target, {
    ...(following && { mayGrow: async () => (await readFreeze(following))?.holdsSince == null }),
    onProgress: progress.update,
    onRetry: ({ message }) => printToStderr(`${message}; retrying`),
  })
  progress.done()
  return events
}

async function compareWithProgress(source: RawLog, target: RawLog, events: number): Promise<LogComparison> {
  const progress = showProgress('Comparing')
  const found = await compareLogs(source, target, events, progress.update)
  progress.done()
  return found
}

const maxShown = 20

function resultOf({ equal, events, streams, digest, differences }: LogComparison): string[] {
  if (equal)
    return [
      `Verified: ${events} events of ${streams} streams are identical and in the same order. SHA-256 ${digest}`,
    ]
  const shown = differences.slice(0, maxShown).map(({ stream, difference }) => `  ${stream}: ${difference}`)
  return [
    `The logs differ after ${events} identical events.`,
    ...(differences.length === 0
      ? ['  All streams are identical, but the order of events across streams differs.']
      : shown),
    ...(differences.length > maxShown ? [`  and ${differences.length - maxShown} more streams`] : []),
  ]
}

async function openOwnDatabase(config: Config, undo: (() => Promise<unknown>)[]): Promise<Pool> {
  const found = await openDatabaseAt({ urlOrDirectory: config.databaseUrl ?? config.dataDirectory })
  undo.push(found.close)
  const db = createPool(found.url)
  undo.push(() => db.end())
  return db
}

async function copyDatabase(source: Pool, to: Parameters<typeof openDatabaseAt>[0]): Promise<number> {
  const found = await openDatabaseAt(to)
  try {
    await migrate(found.migrationUrl)
    const target = createPool(found.migrationUrl)
    try {
      return await copyDurableRows(source, target)
    } finally {
      await target.end()
    }
  } finally {
    await found.close()
  }
}
