import { ConfigError } from '../../config.ts'
import { firstLineOf, typedHidden } from '../secret-input.ts'

export type PassphraseOptions = { passphrase?: boolean; passphraseFile?: string }

/**
 * Reads the passphrase from a file or from the terminal; undefined when the options name neither.
 * @param isNew a new passphrase is typed twice
 * @throws ConfigError, never with the passphrase in it
 */
export async function readPassphrase(
  { passphrase, passphraseFile }: PassphraseOptions,
  isNew: boolean,
): Promise<string | undefined> {
  if (passphraseFile !== undefined) return usable(await firstLineOf(passphraseFile))
  if (!passphrase) return undefined
  if (!process.stdin.isTTY) {
    throw new ConfigError(
      '--passphrase needs a terminal. Use --passphrase-file <path>, or - for the first line of stdin.',
    )
  }
  const typed = usable(await typedHidden('Passphrase: '))
  if (isNew && (await typedHidden('Repeat passphrase: ')) !== typed) {
    throw new ConfigError('The passphrases differ. Try again.')
  }
  return typed
}

function usable(passphrase: string): string {
  if (passphrase.length >= 8) return passphrase
  throw new ConfigError('The passphrase is shorter than 8 characters. Choose a longer one.')
}
