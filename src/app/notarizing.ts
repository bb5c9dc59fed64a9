import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { notaryLock } from '../../projections/database/advisory-locks.ts'
import type { WakeSignal } from '../async/wake-signal.ts'
import type { Config } from '../config.ts'
import { newId } from '../credentials/id.ts'
import { openRawLog } from '../ledger/raw/log.ts'
import { runAuditSchedule } from '../notary/audit/schedule.ts'
import { keepThinning } from '../notary/checkpoints.ts'
import { keptIn } from '../notary/kept.ts'
import { followLog } from '../notary/notary.ts'
import { openSigner } from '../notary/signing-log.ts'
import { clearSuspension, NotarySuspended, recordSuspension } from '../notary/suspension.ts'
import { createWitnessesAsker } from '../notary/witnesses.ts'
import { exitCode } from '../terminal/exit-codes.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { runOwnCommand } from './own-command.ts'
import { baseUrlOf } from './start/own-address.ts'
import type { Stores } from './stores.ts'

/** Runs the notary in one process at a time, until the signal aborts. @param news wakes it for new entries of the log */
export async function notarize(
  config: Config,
  { ports, addresses }: Stores,
  log: Logger,
  news: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  const { db, ledger, now } = ports
  const rawLog = openRawLog(addresses.eventstoreUrl)
  const asker = createWitnessesAsker({
    db,
    witnesses: config.notaryWitnesses,
    now,
    onProblem: (witness, problem) => log.warn({ witness, problem }, 'notary.not_cosigned'),
  })
  const kept = config.notaryKeep === undefined ? undefined : keptIn(config.notaryKeep)
  let logged: string | undefined
  const work = async (until: AbortSignal) => {
    while (!until.aborted) {
      const signer = await openSigner(ports, originOf(config), causeOfStart(now()))
      await clearSuspension(db)
      logged = undefined
      const onCheckpoint = () => asker.wake()
      await followLog({ db, log: rawLog, ledger, signer, now, kept, onCheckpoint, news }, until)
    }
  }
  try {
    await oneAtATime(
      db,
      notaryLock,
      signal,
      async (until) => {
        const over = new AbortController()
        const beside = AbortSignal.any([until, over.signal])
        const asking = Promise.all([asker.run(beside), keepThinning(db, now, beside)])
        try {
          await work(until)
        } catch (error) {
          if (error instanceof NotarySuspended) await recordSuspension(db, error.message, now())
          throw error
        } finally {
          over.abort()
          await asking
        }
      },
      (err) => {
        const message = err instanceof Error ? err.message : String(err)
        // It is tried again every second, and said once.
        if (message !== logged) log.error({ err }, 'notary.stopped')
        logged = message
      },
    )
  } finally {
    await rawLog.close()
  }
}

/** The name of the first log: the address without its scheme, as C2SP recommends. */
function originOf(config: Config): string {
  const { host, pathname } = new URL(baseUrlOf(config))
  return config.notaryOrigin ?? `${host}${pathname}`.replace(/\/$/, '')
}

function causeOfStart(now: Date) {
  const requestId = newId('req')
  return {
    requestId,
    actor: 'system:notary',
    causationId: requestId,
    correlationId: requestId,
    at: now.toISOString(),
  }
}

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
