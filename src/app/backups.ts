import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { runBackupSchedule } from '../backup/schedule.ts'
import type { Config } from '../config.ts'
import { runOwnCommand } from './own-command.ts'

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

async function runCommand(file: string, recipients: readonly string[], signal: AbortSignal) {
  const options = recipients.flatMap((recipient) => ['--recipient', recipient])
  const { printed } = await runOwnCommand(['backup', '--json', '--child', ...options, file], signal)
  return Made.parse(JSON.parse(printed))
}
