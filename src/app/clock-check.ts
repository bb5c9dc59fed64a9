import type { Pool } from 'pg'
import {
  describeClock,
  minDifferenceMs,
  type OtherClock,
  reportedDifferenceMs,
} from '../ledger/clock-difference.ts'

/** Beyond it the event store takes no appends. */
const failAboveMs = 60_000

/** What the clocks came to. Detail and remedy are sentences for the operator. */
type ClockResult = { ok: boolean; required: boolean; detail: string; remedy?: string }

/** Says of each clock how far it is off: a few seconds are a warning, more than a minute is an error. One that may be off only because the answer took long counts as right. */
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

/** What Postgres takes for now, against the middle of the time that it took to ask. */
export async function clockOfPostgres(db: Pool): Promise<OtherClock> {
  // The first answer may have to wait for a connection.
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
