import { readFileSync } from 'node:fs'
import { refuseNoRecipient } from '../../app/backup-recipients.ts'
import { checkIdentity, type DecryptionKey, type EncryptionKey } from '../../backup/encryption.ts'
import { ConfigError } from '../../config.ts'
import { type PassphraseOptions, readPassphrase } from './passphrase.ts'

export type LockOptions = PassphraseOptions & { recipient?: string[] }
export type KeyOptions = PassphraseOptions & { identity?: string }

/** @throws ConfigError */
export async function lockOf(options: LockOptions): Promise<EncryptionKey> {
  const passphrase = await readPassphrase(options, true)
  const { recipient: recipients } = options
  for (const recipient of recipients ?? []) refuseNoRecipient(recipient)
  if (passphrase !== undefined && recipients !== undefined) {
    throw new ConfigError('--recipient and a passphrase cannot be combined. Use one of them.')
  }
  return passphrase === undefined ? recipients && { recipients } : { passphrase }
}

/** @throws ConfigError */
export async function keyOf(options: KeyOptions): Promise<DecryptionKey> {
  const { identity } = options
  if (identity !== undefined) return { identities: identitiesIn(identity) }
  const passphrase = await readPassphrase(options, false)
  return passphrase === undefined ? undefined : { passphrase }
}

/** The keys in a file as age-keygen writes it: one key per line, and comments. */
function identitiesIn(path: string): string[] {
  let lines: string[]
  try {
    lines = readFileSync(path, 'utf8').split(/\r?\n/)
  } catch (error) {
    throw new ConfigError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const identities = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  try {
    for (const identity of identities) checkIdentity(identity)
  } catch {
    throw new ConfigError(
      `${path} has a line that is not an age secret key. Each line must begin with AGE-SECRET-KEY-.`,
    )
  }
  if (identities.length === 0) throw new ConfigError(`${path} contains no age secret key.`)
  return identities
}
