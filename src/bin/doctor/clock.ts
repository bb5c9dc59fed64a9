import type { Pool } from 'pg'
import type { Check, Finding } from './check.ts'

/** From then on links, codes and tokens run out at the wrong moment, and events stand in the wrong order of time. */
const warnFromMs = 5000
/** Beyond it the event store takes no appends. */
const failAboveMs = 60_000

/** Another clock: its name, how far it is ahead of this machine's, and how exactly that is known. */
export type OtherClock = { of: string; aheadMs: number; within: number }

/** Whether this machine's clock agrees with those of the stores and providers. */
export const clockCheck = (others: () => Promise<readonly OtherClock[]>): Check => ({
  name: 'clock',
  run: async () => judgeClocks(await others()),
})

/** Says of each clock how far it is off: a few seconds are a warning, more than a minute is an error. One that may be off only because the answer took long counts as right. */
export function judgeClocks(others: readonly OtherClock[]): Finding {
  if (others.length === 0) {
    return { ok: true, required: true, detail: 'no other clock could be asked' }
  }
  const apart = ({ aheadMs, within }: OtherClock) => Math.abs(aheadMs) - within
  const wrong = others.filter((clock) => apart(clock) > warnFromMs)
  const detail = (wrong.length > 0 ? wrong : others).map(inWords).join(', ')
  if (wrong.length === 0) return { ok: true, required: true, detail }
  return {
    ok: false,
    required: wrong.some((clock) => apart(clock) > failAboveMs),
    detail,
    remedy: `synchronize the clocks (timedatectl set-ntp true, or chrony); ${
      wrong.length === others.length
        ? 'this machine is the one to look at first'
        : 'the others agree with this machine'
    }`,
  }
}

function inWords({ of, aheadMs, within }: OtherClock): string {
  const seconds = Math.max(0, Math.abs(aheadMs) - within) / 1000
  if (seconds === 0) return `the same as ${of}`
  return `${seconds.toFixed(1)} s ${aheadMs > 0 ? 'behind' : 'ahead of'} ${of}`
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
  return { of: 'Postgres', aheadMs: (rows[0]?.ms ?? before) - before - tookMs / 2, within: tookMs / 2 + 1 }
}

/** The clock behind an HTTP answer, whose Date has whole seconds. */
export function clockOfAnswer(of: string, date: string | null, before: number, after: number): OtherClock[] {
  const then = Date.parse(date ?? '')
  if (Number.isNaN(then)) return []
  const tookMs = after - before
  return [{ of, aheadMs: then + 500 - before - tookMs / 2, within: 500 + tookMs / 2 }]
}
