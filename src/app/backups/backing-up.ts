import { spawn } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { runBackupSchedule } from '../../backup/schedule.ts'
import type { Config } from '../../config.ts'

const program = join(import.meta.dirname, '../../cli', `keyledger${extname(import.meta.filename)}`)

const Made = z.looseObject({ bytes: z.int(), events: z.int() })

/** Checks the backup recipients at the start. @throws ConfigError for a recipient that is not an age public key */
export async function checkRecipients({ backups }: Config): Promise<void> {
  if (backups === undefined || backups.recipients.length === 0) return
  // Loaded lazily: most installations have no recipients.
  const { refuseNoRecipient } = await import('./backup-recipients.ts')
  for (const recipient of backups.recipients) refuseNoRecipient(recipient)
}

/** Makes the due backups until the signal aborts; does nothing when the configuration has no backups. */
export async function makeBackups(config: Config, db: Pool, log: Logger, signal: AbortSignal): Promise<void> {
  const { backups } = config
  if (backups === undefined) return
  await runBackupSchedule(db, signal, {
    schedule: backups,
    make: (file, until) => runCommand(file, backups.recipients, until),
    now: () => new Date(),
    onMade: (made) => log.info(made, 'backup.made'),
    onFailure: (err) => log.error({ err }, 'backup.failed'),
  })
}

/** Runs the backup in a process of its own, so that the system can share the processor between the two. */
async function runCommand(file: string, recipients: readonly string[], signal: AbortSignal) {
  const options = recipients.flatMap((recipient) => ['--recipient', recipient])
  const child = spawn(process.execPath, [program, 'backup', '--json', '--child', ...options, file], {
    // The channel closes when this process dies, and then the backup ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const stop = () => child.kill('SIGTERM')
  signal.addEventListener('abort', stop, { once: true })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    const [code, printed, said] = await Promise.all([ended, textOf(child.stdout), textOf(child.stderr)])
    if (code === 0) return Made.parse(JSON.parse(printed))
    throw new Error(said.trim().split('\n').at(-1) || `the backup process exited with ${code}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const textOf = (output: Readable | null): Promise<string> =>
  output === null ? Promise.resolve('') : text(output)
