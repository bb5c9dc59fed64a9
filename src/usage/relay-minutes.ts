import type { Pool } from 'pg'
import type { RelayMinute } from '../signing/relay-statements.ts'

const keptMinutes = 400 * 24 * 60
/** The clock of a relay may be ahead of ours. */
const aheadMinutes = 24 * 60

/**
 * Keeps what a relay reports, for 400 days. A minute that is reported again counts once, with the greatest of its numbers.
 * Minutes that are too old, or that are not near yet, are left out.
 */
export async function keepRelayMinutes(
  db: Pool,
  { licenseId, relayId }: { licenseId: string; relayId: string },
  minutes: readonly RelayMinute[],
  now: Date,
): Promise<void> {
  const present = Math.floor(now.getTime() / 60_000)
  const oldest = present - keptMinutes
  await db.query({
    name: 'forget-relay-minutes',
    text: 'delete from usage.relay_minutes where minute < $1',
    values: [oldest],
  })
  const kept = minutes.filter(([minute]) => minute >= oldest && minute <= present + aheadMinutes)
  if (kept.length === 0) return
  await db.query({
    name: 'keep-relay-minutes',
    text: `insert into usage.relay_minutes as m (license_id, relay_id, minute, peak, taken, denied)
           select $1, $2, minute, max(peak), max(taken), max(denied)
           from unnest($3::int[], $4::int[], $5::int[], $6::int[]) as q (minute, peak, taken, denied)
           group by minute
           -- In the same order in every process, so that two of them never wait for each other.
           order by minute
           on conflict (license_id, relay_id, minute) do update set
             peak = greatest(m.peak, excluded.peak),
             taken = greatest(m.taken, excluded.taken),
             denied = greatest(m.denied, excluded.denied)`,
    values: [licenseId, relayId, ...[0, 1, 2, 3].map((index) => kept.map((minute) => minute[index]))],
  })
}
