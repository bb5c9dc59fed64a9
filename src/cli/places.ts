import { joinLocalStack } from '../../infra/local/stack/stack.ts'
import { ConfigError } from '../config.ts'
import { openRawLog, type RawLog } from '../ledger/raw-log.ts'
import { tell } from '../terminal/output.ts'

/** Where an operator says that something is. */
type Place = {
  /** An address, or the path of a data directory, whose embedded part is then started or joined. */
  place: string
  /** The variable that takes the address when it holds a password. Left out: it does not come from an argument. */
  insteadOfArgument?: string
}

/** @throws ConfigError, LocalStackError */
export async function openLogAt(asked: Place): Promise<{ log: RawLog; close(): Promise<void> }> {
  if (isAddress(asked, ['esdb', 'esdb+discover'], 'event store')) {
    const log = openRawLog(asked.place)
    return { log, close: () => log.close() }
  }
  const stack = await join(asked.place, { postgres: false, eventStore: true })
  const log = openRawLog(stack.eventstoreUrl ?? '')
  const close = async () => {
    await log.close()
    await stack.leave()
  }
  return { log, close }
}

/**
 * @returns the database's address, and the one under which its schemas are changed
 * @throws ConfigError, LocalStackError
 */
export async function openDatabaseAt(
  asked: Place,
): Promise<{ url: string; migrationUrl: string; close(): Promise<void> }> {
  if (isAddress(asked, ['postgres', 'postgresql'], 'database')) {
    return { url: asked.place, migrationUrl: asked.place, close: async () => undefined }
  }
  const { databaseUrl: url = '', ...stack } = await join(asked.place, { postgres: true, eventStore: false })
  return { url, migrationUrl: stack.migrationUrl ?? url, close: () => stack.leave() }
}

const join = (dataDirectory: string, parts: { postgres: boolean; eventStore: boolean }) =>
  joinLocalStack({ dataDirectory, parts, log: tell })

function isAddress({ place, insteadOfArgument }: Place, schemes: readonly string[], what: string): boolean {
  const scheme = /^([a-z][a-z+]*):\/\//i.exec(place)?.[1]
  if (scheme === undefined) return false
  if (!schemes.includes(scheme)) {
    throw new ConfigError(
      `${scheme}:// is not a URL of the ${what}. Use ${schemes[0]}://… or a data directory.`,
    )
  }
  if (insteadOfArgument !== undefined && /^[^/]*\/\/[^/?]*:[^/?]*@/.test(place)) {
    throw new ConfigError(
      'A URL with a password is not accepted as an argument, because every user of this machine can read it. Put it into ' +
        `${insteadOfArgument}.`,
    )
  }
  return true
}
