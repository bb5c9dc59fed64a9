import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'

/** How often a process says that it is there. */
const beatMs = 2000

/**
 * Says again and again that this process is there, and hears how many there are. Also clears away buckets that are
 * full again.
 * @returns how to leave
 */
export async function joinProcesses(
  db: Pool,
  now: () => number,
  onCount: (count: number) => void,
  onFailure: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const id = randomUUID()
  let beats = 0

  async function beat(): Promise<void> {
    try {
      const { rows } = await db.query<{ others: bigint }>({
        name: 'count-processes',
        text: sayAndCount,
        values: [id],
      })
      onCount(Number(rows[0]?.others ?? 0n) + 1)
      if (beats++ % 30 === 0) await db.query('delete from limits.buckets where tat < $1', [now()])
    } catch (error) {
      onFailure(error)
    }
  }

  await beat()
  let beating = Promise.resolve()
  const timer = setInterval(() => {
    beating = beat()
  }, beatMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await beating
    await db.query('delete from limits.processes where id = $1', [id]).catch(onFailure)
  }
}

/** One that has not been heard for five beats is gone. Its own row is not in the snapshot that is counted. */
const sayAndCount = `
  with said as (
    insert into limits.processes (id, seen_at) values ($1, clock_timestamp())
    on conflict (id) do update set seen_at = excluded.seen_at
  ), gone as (
    delete from limits.processes where seen_at < clock_timestamp() - interval '10 seconds' and id <> $1
  )
  select count(*) as others from limits.processes
  where id <> $1 and seen_at >= clock_timestamp() - interval '10 seconds'`
