import type { Pool } from 'pg'

/**
 * Remembers when each token was last used, in memory, and writes it down now and then: it costs a request no write
 * of its own. What a killed process had not written yet is lost, and so a token may look unused for a few seconds more.
 */
export type TokenUse = {
  record(tokenId: string): void
  /** Writes what has been noted; on failure it is kept for the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export function createTokenUse(
  db: Pool,
  now: () => Date,
  onFailure: (error: unknown) => void,
  flushEveryMs = 5000,
): TokenUse {
  let pending = new Map<string, Date>()
  let flushing = Promise.resolve()

  async function write(): Promise<void> {
    const batch = pending
    if (batch.size === 0) return
    pending = new Map()
    try {
      await db.query({
        name: 'note-token-use',
        text: `insert into usage.token_use as u (token_id, last_used_at)
               select * from unnest($1::text[], $2::timestamptz[])
               on conflict (token_id) do update set last_used_at = excluded.last_used_at
               where u.last_used_at < excluded.last_used_at`,
        values: [[...batch.keys()], [...batch.values()]],
      })
    } catch (error) {
      onFailure(error)
      pending = new Map([...batch, ...pending])
    }
  }

  const flush = () => {
    flushing = flushing.then(write)
    return flushing
  }
  const timer = setInterval(() => void flush(), flushEveryMs)

  return {
    record(tokenId) {
      pending.set(tokenId, now())
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}
