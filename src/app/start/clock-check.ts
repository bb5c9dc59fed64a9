import type { Pool } from 'pg'
import {
  describeClock,
  minDifferenceMs,
  type OtherClock,
  reportedDifferenceMs,
} from '../../ledger/connection/clock-difference.ts'

/** The event store rejects appends when clocks differ by more than this. */
const failAboveMs = 60_000

/** The result of the clock check. `detail` and `remedy` are sentences for the operator. */
type ClockResult = { ok: boolean; required: boolean; detail: string; remedy?: string }

/**
 * Judges how far each clock is off: a few seconds are a warning, more than a minute is an error. A difference that
 * the duration of the measurement can explain is ignored.
 */
export function judgeClocks(others: readonly OtherClock[]): ClockResult {
  if (others.length === 0) {
    return { ok: true, required: true, detail: 'no other clock could be reached' }
  }
  const wrong = others.filter((clock) => minDifferenceMs(clock) > reportedDifferenceMs)
  const detail = (wrong.length > 0 ? wrong : others).map(describeClock).join(', ')
  if (wrong.length === 0) return { ok: true, required: true, detail }
  return {
    ok: false,
    required: wrong.some((clock) => minDifferenceMs(clock) > failAboveMs),
    detail,
    remedy: `synchronize the clocks (timedatectl set-ntp true, or chrony); ${
      wrong.length === others.length ? 'check this machine first' : 'the others agree with this machine'
    }`,
  }
}

/** Compares the time in Postgres with the middle of the interval in which it was read. */
export async function clockOfPostgres(db: Pool): Promise<OtherClock> {
  // The first query may wait for a connection, which would distort the measurement.
  await db.query('select 1')
  const before = Date.now()
  const { rows } = await db.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  const tookMs = Date.now() - before
  return {
    name: 'Postgres',
    aheadMs: (rows[0]?.ms ?? before) - before - tookMs / 2,
    uncertaintyMs: tookMs / 2 + 1,
  }
}
