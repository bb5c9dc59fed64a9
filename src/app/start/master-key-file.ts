import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../../config.ts'
import { type MasterKey, newMasterKey, parseMasterKey } from '../../vault/master-key.ts'

const fileName = 'master.key'

/**
 * Reads the master key from the environment, else from the data directory. A missing key is created only when
 * Postgres is embedded, because then the data lies beside it.
 * @throws ConfigError when the key is missing or malformed
 */
export function readMasterKey(config: Config): MasterKey {
  try {
    return parseMasterKey(config.masterKey ?? keyInFile(config))
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : new ConfigError(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Reads the existing master key and never creates one.
 * @throws ConfigError when the key is malformed
 */
export function findMasterKey(config: Config): MasterKey | undefined {
  const isThere = config.masterKey !== undefined || existsSync(join(config.dataDirectory, fileName))
  return isThere ? readMasterKey(config) : undefined
}

/** As {@link findMasterKey}. @throws ConfigError when the key is missing or malformed */
export function requireMasterKey(config: Config): MasterKey {
  const found = findMasterKey(config)
  if (found) return found
  throw new ConfigError(
    `The master key of the backed-up installation is missing. Set KEYLEDGER_MASTER_KEY, or put the key into ${join(config.dataDirectory, fileName)} with mode 0600.`,
  )
}

function keyInFile(config: Config): string {
  const path = join(config.dataDirectory, fileName)
  if (!existsSync(path)) {
    if (config.databaseUrl !== undefined) {
      throw new ConfigError(
        'The master key is missing. Set KEYLEDGER_MASTER_KEY (32 bytes, base64), for example from: openssl rand -base64 32',
      )
    }
    makeKeyFile(config.dataDirectory, path)
  }
  return readFileSync(path, 'utf8').trim()
}

/**
 * Written to a draft file first and then linked: the file is complete as soon as it exists, and of two processes
 * that start together only one creates the key.
 */
function makeKeyFile(directory: string, path: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${newMasterKey()}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    rmSync(draft)
  }
}
