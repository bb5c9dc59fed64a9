import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { CommandMisused } from '../../terminal/exit-codes.ts'

/**
 * Looks for the ledger that a command is about, so that a command in the wrong directory creates nothing.
 * @param parts whether the command uses the database; all use the log
 * @throws CommandMisused when an embedded part has no files: says where it looked and what to do
 */
export function requireLedger(
  { dataDirectory, databaseUrl, eventstoreUrl }: Config,
  parts: { database: boolean } = { database: true },
): void {
  const missing =
    (eventstoreUrl === undefined && !existsSync(join(dataDirectory, 'eventstore'))) ||
    (parts.database && databaseUrl === undefined && !existsSync(join(dataDirectory, 'postgres')))
  // The stores say more about a file in its place.
  if (!missing || statSync(dataDirectory, { throwIfNoEntry: false })?.isFile()) return
  const { KEYLEDGER_DATA_DIR: given = '' } = process.env
  throw new CommandMisused(
    [
      `There is no ledger in ${dataDirectory}.`,
      given === ''
        ? 'KEYLEDGER_DATA_DIR is not set, so the working directory was searched for .keyledger.'
        : `KEYLEDGER_DATA_DIR is ${given}.`,
      `${state('KEYLEDGER_DATABASE_URL', databaseUrl)}, ${state('KEYLEDGER_EVENTSTORE_URL', eventstoreUrl)}.`,
      'Run the command where the ledger is, or set these variables as the server has them.',
      'To make a ledger: keyledger init. To work on a server from this machine: keyledger login --server <address>.',
    ].join('\n'),
  )
}

const state = (name: string, value: string | undefined): string =>
  `${name} is ${value === undefined ? 'not set' : 'set'}`
