import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../../config.ts'

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

async function firstLineOf(path: string): Promise<string> {
  try {
    const content = path === '-' ? await text(process.stdin) : readFileSync(path, 'utf8')
    return content.split(/\r?\n/, 1)[0] ?? ''
  } catch (error) {
    throw new ConfigError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const enter = new Set(['\r', '\n', '\u0004'])
const interrupt = '\u0003'
const erase = new Set(['\u007f', '\b'])

/** Reads a line without echoing it. */
async function typedHidden(prompt: string): Promise<string> {
  const { stdin } = process
  process.stderr.write(prompt)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  let typed: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onData = (more: string) => {
    for (const character of more) {
      if (enter.has(character)) return resolve(typed.join(''))
      if (character === interrupt) return reject(new ConfigError('Interrupted. Nothing was changed.'))
      typed = erase.has(character) ? typed.slice(0, -1) : [...typed, character]
    }
  }
  stdin.on('data', onData)
  try {
    return await promise
  } finally {
    stdin.off('data', onData).setRawMode(false).pause()
    process.stderr.write('\n')
  }
}
