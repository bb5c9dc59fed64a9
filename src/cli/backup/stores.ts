import { joinStack } from '../../app/start/stack.ts'
import type { Config } from '../../config.ts'
import { openRawLog, type RawLog } from '../../ledger/raw/log.ts'
import { printToStderr } from '../../terminal/output.ts'

/** The stores for a backup or a restore: opening them migrates, creates and rebuilds nothing. */
export type BareStores = {
  log: RawLog
  eventstoreUrl: string
  /** The URL for the role of the application. */
  databaseUrl: string
  /** The URL for the role that owns the durable schemas. */
  migrationUrl: string
}

/**
 * Joins or starts the embedded parts that are used.
 * @throws LocalStackError
 */
export async function withBareStores<T>(
  config: Config,
  work: (stores: BareStores) => Promise<T>,
): Promise<T> {
  const stack = await joinStack(config, printToStderr)
  const databaseUrl = config.databaseUrl ?? stack.databaseUrl
  const migrationUrl =
    config.databaseUrl === undefined ? stack.migrationUrl : (config.migrationUrl ?? databaseUrl)
  const eventstoreUrl = config.eventstoreUrl ?? stack.eventstoreUrl
  try {
    if (databaseUrl === undefined || migrationUrl === undefined || eventstoreUrl === undefined) {
      throw new Error('the embedded stores returned no address')
    }
    const log = openRawLog(eventstoreUrl)
    try {
      return await work({ log, eventstoreUrl, databaseUrl, migrationUrl })
    } finally {
      await log.close()
    }
  } finally {
    await stack.leave()
  }
}
