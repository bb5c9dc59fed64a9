import { joinLocalStack } from '../../infra/local/stack/stack.ts'
import { ConfigError } from '../config.ts'
import { storeSchemes } from '../ledger/connection/schemes.ts'
import { openRawLog, type RawLog } from '../ledger/raw/log.ts'
import { printToStderr } from '../terminal/output.ts'

/** The location of a store, as an operator gives it. */
type StoreLocation = {
  /** A URL, or the path of a data directory, whose embedded part is then started or joined. */
  urlOrDirectory: string
  /** The variable to use for a URL with a password. Undefined when the URL is not an argument. */
  secretVariable?: string
}

/** @throws ConfigError, LocalStackError */
export async function openLogAt(location: StoreLocation): Promise<{ log: RawLog; close(): Promise<void> }> {
  if (isAddress(location, storeSchemes, 'event store')) {
    const log = openRawLog(location.urlOrDirectory)
    return { log, close: () => log.close() }
  }
  const stack = await join(location.urlOrDirectory, { postgres: false, eventStore: true })
  const log = openRawLog(stack.eventstoreUrl ?? '')
  const close = async () => {
    await log.close()
    await stack.leave()
  }
  return { log, close }
}

/**
 * @returns the URL of the database, and the URL of the role that migrates its schemas
 * @throws ConfigError, LocalStackError
 */
export async function openDatabaseAt(
  location: StoreLocation,
): Promise<{ url: string; migrationUrl: string; close(): Promise<void> }> {
  if (isAddress(location, ['postgres', 'postgresql'], 'database')) {
    return {
      url: location.urlOrDirectory,
      migrationUrl: location.urlOrDirectory,
      close: async () => undefined,
    }
  }
  const { databaseUrl: url = '', ...stack } = await join(location.urlOrDirectory, {
    postgres: true,
    eventStore: false,
  })
  return { url, migrationUrl: stack.migrationUrl ?? url, close: () => stack.leave() }
}

const join = (dataDirectory: string, parts: { postgres: boolean; eventStore: boolean }) =>
  joinLocalStack({ dataDirectory, parts, log: printToStderr })

function isAddress(
  { urlOrDirectory, secretVariable }: StoreLocation,
  schemes: readonly string[],
  what: string,
): boolean {
  const scheme = /^([a-z][a-z+]*):\/\//i.exec(urlOrDirectory)?.[1]
  if (scheme === undefined) return false
  if (!schemes.includes(scheme)) {
    throw new ConfigError(
      `${scheme}:// is not a URL of the ${what}. Use ${schemes[0]}://… or a data directory.`,
    )
  }
  if (secretVariable !== undefined && /^[^/]*\/\/[^/?]*:[^/?]*@/.test(urlOrDirectory)) {
    throw new ConfigError(
      'A URL with a password is not accepted as an argument, because every user of this machine can read it. Put it into ' +
        `${secretVariable}.`,
    )
  }
  return true
}
