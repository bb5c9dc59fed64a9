import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { runAuditSchedule } from '../notary/audit/schedule.ts'
import { exitCode } from '../terminal/exit-codes.ts'
import { runOwnCommand } from './own-command.ts'

const Report = z.looseObject({
  events: z.int(),
  size: z.int(),
  problems: z.array(z.looseObject({ kind: z.string(), says: z.string() })),
})

/** Compares the log with what was signed, each day until the signal aborts; never when no time is configured. */
export async function auditOnSchedule(
  { auditAt }: Config,
  db: Pool,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  if (auditAt === undefined) return
  await runAuditSchedule(db, signal, {
    at: auditAt,
    audit: async (until) => {
      const { printed } = await runOwnCommand(['audit', 'verify', '--json', '--child'], until, [
        exitCode.done,
        exitCode.refused,
      ])
      return Report.parse(JSON.parse(printed))
    },
    now: () => new Date(),
    onReport({ events, problems }) {
      if (problems.length === 0) log.info({ events }, 'audit.clean')
      else log.error({ events, problems: problems.map(({ says }) => says) }, 'audit.problems')
    },
    onFailure: (err) => log.error({ err }, 'audit.failed'),
  })
}
