import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { ConfigError } from '../config.ts'
import { printToStderr } from '../terminal/output.ts'

export type SecretOptions = { secret?: string; secretFile?: string }

/** Adds the two options for a signing secret. */
export const secretOption = (command: Command): Command =>
  command
    .option('--secret-file <path>', 'file with the signing secret; - reads it from the first line of stdin')
    .option('--secret <whsec_…>', 'insecure: other users of this machine can read it; use --secret-file')

/**
 * Reads the signing secret, and returns the rest of stdin when the secret was its first line.
 * @throws ConfigError when it is missing or unusable; never with the secret in it
 */
export async function readSecret({
  secret,
  secretFile,
}: SecretOptions): Promise<{ secret: string; rest: string | undefined }> {
  if (secret !== undefined && secretFile !== undefined) {
    throw new ConfigError('--secret and --secret-file cannot be combined. Use --secret-file.')
  }
  if (secret !== undefined) {
    printToStderr(
      'Warning: every user of this machine can read command arguments, and the shell history keeps them. Use --secret-file.',
    )
    return { secret: usable(secret), rest: undefined }
  }
  if (secretFile === undefined) {
    throw new ConfigError('The signing secret is missing. Add --secret-file <path>, or - for stdin.')
  }
  if (secretFile !== '-') return { secret: usable(read(secretFile)), rest: undefined }
  const sent = await text(process.stdin)
  const end = sent.indexOf('\n')
  return end < 0
    ? { secret: usable(sent), rest: '' }
    : { secret: usable(sent.slice(0, end)), rest: sent.slice(end + 1) }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function usable(given: string): string {
  const secret = given.trim()
  if (/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) return secret
  throw new ConfigError('The signing secret is not valid. It must be whsec_ followed by base64.')
}
