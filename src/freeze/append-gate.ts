import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { LockLost } from '../../projections/database/errors.ts'
import { type LockSession, openLockSession } from '../../projections/database/lock-session.ts'
import { LedgerFrozen } from '../ledger/connection/unavailable.ts'

/** Processes that append hold this lock as shared; a freeze takes it exclusively. */
export const appendLock = 'appends to the log'

/**
 * Every append of this process passes this gate. While it is open, the process holds a shared lock in Postgres,
 * so passing costs no statement. A freeze gets the exclusive lock when the last append has left.
 */
export type AppendGate = {
  /**
   * Enters the gate before an append.
   * @returns a function to call when the append has ended, successful or not
   * @throws LedgerFrozen; LockLost or a database error when it is not known whether the ledger is frozen
   */
  enter(): Promise<() => void>
  /**
   * Waits until the ledger is not frozen, or the signal aborts. For workers, which have nothing to do in the
   * meantime.
   */
  untilOpen(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

const retryMs = 10
/** How long to wait while another session holds the lock but no freeze is recorded. */
const openTimeoutMs = 10_000
const pollMs = 1000

type Gate = { session: LockSession; appends: number; closing: boolean }

export function createAppendGate(db: Pool): AppendGate {
  const id = randomUUID()
  let session: Promise<LockSession> | undefined
  let gate: Gate | undefined
  let opening: Promise<Gate> | undefined

  function release(left: Gate): void {
    if (gate === left) gate = undefined
    if (!left.session.lost) left.session.unshare(appendLock)
  }

  function onWanted(name: string): void {
    if (name !== appendLock || !gate) return
    const closing = gate
    closing.closing = true
    gate = undefined
    if (closing.appends === 0) release(closing)
  }

  /** The lock is lost with the session. Appends in flight are covered by the table of appenders. */
  function onLost(lost: LockSession): void {
    session = undefined
    if (gate?.session === lost) gate = undefined
  }

  async function open(): Promise<Gate> {
    const until = performance.now() + openTimeoutMs
    for (;;) {
      session ??= openLockSession(db, { onWanted, onLost }, registerAppender(id))
      const current = await session.catch((error: unknown) => {
        session = undefined
        throw error
      })
      const shared = await current.tryShare(appendLock)
      // Checked while the lock is held: a freeze that begins later waits for the lock.
      const frozen = await isFrozen(db)
      if (shared && !frozen && !current.lost) return { session: current, appends: 0, closing: false }
      if (shared && !current.lost) current.unshare(appendLock)
      if (frozen) throw new LedgerFrozen()
      if (performance.now() > until) throw new LockLost(`another session holds the lock of ${appendLock}`)
      await sleep(retryMs)
    }
  }

  async function opened(): Promise<Gate> {
    opening ??= open()
      .then((made) => {
        gate = made
        return made
      })
      .finally(() => {
        opening = undefined
      })
    return opening
  }

  const gateNow = async (): Promise<Gate> => {
    for (;;) {
      const found = gate ?? (await opened())
      if (!found.closing && !found.session.lost) return found
    }
  }

  return {
    async enter() {
      const passed = gate ?? (await gateNow())
      passed.appends++
      return () => {
        if (--passed.appends === 0 && passed.closing) release(passed)
      }
    },
    async untilOpen(signal) {
      while (!gate && !signal.aborted) {
        // A database error is left to the work that needs the database.
        if (!(await isFrozen(db).catch(() => false))) return
        await sleep(pollMs, undefined, { signal }).catch(() => undefined)
      }
    },
    async stop() {
      const current = await session?.catch(() => undefined)
      current?.end()
      await db.query('delete from operations.appenders where id = $1', [id]).catch(() => undefined)
    },
  }
}

async function isFrozen(db: Pool): Promise<boolean> {
  const { rowCount } = await db.query({ name: 'is-frozen', text: 'select from operations.freeze' })
  return rowCount !== 0
}

const registerAppender = (id: string) => ({
  text: `insert into operations.appenders (id, pid, started_at)
         select $1, pid, backend_start from pg_stat_activity where pid = pg_backend_pid()
         on conflict (id) do update set pid = excluded.pid, started_at = excluded.started_at`,
  values: [id],
})
